package images

import (
	"bytes"
	"cmp"
	_ "embed"
	"slices"
	"strings"
)

//go:embed Dockerfile.agent
var recipe []byte

// The comment lines of the recipe that the agents' lines take the place of.
const (
	stagesMark = "# @agent-stages@\n"
	copiesMark = "# @agent-copies@\n"
)

// Dockerfile returns the recipe with a stage and a copy per agent, in the order
// of their names. A copy is a cached layer while neither it nor one before it
// changed. The text is meant for the builder only if Check found no error.
func (b Build) Dockerfile() []byte {
	var stages, copies strings.Builder
	byName := func(x, y Agent) int { return cmp.Compare(x.Name, y.Name) }
	for _, a := range slices.SortedStableFunc(slices.Values(b.Agents), byName) {
		stages.WriteString(a.stage())
		copies.WriteString(a.copyLine())
	}
	text := bytes.Replace(recipe, []byte(stagesMark), []byte(stages.String()), 1)
	return bytes.Replace(text, []byte(copiesMark), []byte(copies.String()), 1)
}
