package check

import (
	"context"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"sandboxrun/gitdiff/change"
)

// Inputs are files that something reads, named by valid globs. Other than elsewhere a pattern matches whole paths only: a
// name of a directory does not stand for what is below it.
type Inputs struct {
	names map[string]bool // last parts of patterns such as "**/go.mod": nearly all of them are, and one look finds them
	globs []string
}

// NewInputs prepares the patterns.
func NewInputs(patterns []string) Inputs {
	in := Inputs{names: map[string]bool{}}
	for _, p := range patterns {
		p = fold(p)
		if name, anywhere := strings.CutPrefix(p, "**/"); anywhere && !hasMeta(name) && !strings.Contains(name, "/") {
			in.names[name] = true
		} else {
			in.globs = append(in.globs, p)
		}
	}
	return in
}

// Touched lists the changes of such files, of either name of a renamed one, in the order of the diff. Letter case and
// composition of the names do not matter. The error is ctx's.
func (in Inputs) Touched(ctx context.Context, changes []change.Change) ([]change.Change, error) {
	var list []change.Change
	for i, c := range changes {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if in.match(c.Name) || c.OldName != "" && in.match(c.OldName) {
			list = append(list, c)
		}
	}
	return list, nil
}

func (in Inputs) match(name string) bool {
	name = fold(name)
	if in.names[path.Base(name)] {
		return true
	}
	for _, p := range in.globs {
		if doublestar.MatchUnvalidated(p, name) {
			return true
		}
	}
	return false
}
