package agents

import (
	"path"
	"slices"
	"strings"
)

// keepOption is the field of a profile that adds to Info.Keep, for agents of
// which nobody knows what they keep.
const keepOption = "keep"

// Kept lists what below HOME has to be there again in the box of the next turn:
// Info.Keep, and what the profile adds where the agent has a field for that.
// Paths of the profile that do not stay below HOME are left out.
func Kept(i Info, s Settings) []string {
	list := slices.Clone(i.Keep)
	if !slices.ContainsFunc(i.Options, func(o Option) bool { return o.Name == keepOption && o.Type == OptionStrings }) {
		return list
	}
	for _, p := range s.Strings(keepOption) {
		clean := path.Clean(p)
		if p == "" || path.IsAbs(p) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(p, "\n\x00") {
			continue
		}
		list = append(list, clean)
	}
	return list
}
