package images

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func named(names ...string) Build {
	var b Build
	for _, n := range names {
		a := sample()
		a.Name = n
		b.Agents = append(b.Agents, a)
	}
	return b
}

func TestDockerfileHasAStageAndACopyPerAgentByName(t *testing.T) {
	t.Parallel()
	text := string(named("zeta", "alpha").Dockerfile())
	last := 0
	for _, line := range []string{
		"\nFROM npm AS agent-alpha\n", "\nFROM npm AS agent-zeta\n", "\nFROM system\n",
		"\nCOPY --from=npm /out /\n", "\nCOPY --from=agent-alpha /out/ /\n", "COPY --from=agent-zeta /out/ /\n",
	} {
		at := strings.Index(text, line)
		if at < last || strings.Count(text, line) != 1 {
			t.Errorf("%q is at %d, after %d, and there %d times", line, at, last, strings.Count(text, line))
		}
		last = at
	}
	if other := string(named("alpha", "zeta").Dockerfile()); other != text {
		t.Errorf("the order of the agents changes the text:\n%s", cmp.Diff(text, other))
	}
}

func TestDockerfileWithoutAgentsIsTheRecipe(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{stagesMark, copiesMark} {
		if n := bytes.Count(recipe, []byte("\n"+mark)); n != 1 {
			t.Errorf("the recipe has the line %q %d times", mark, n)
		}
	}
	want := strings.NewReplacer(stagesMark, "", copiesMark, "").Replace(string(recipe))
	if diff := cmp.Diff(want, string(Build{}.Dockerfile())); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
