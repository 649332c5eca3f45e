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
			t.Errorf("%q is at %d, after %d, and occurs %d times", line, at, last, strings.Count(text, line))
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

func build(edit func(*Build)) Build {
	b := Build{BaseID: "sha256:1", CABundle: []byte("PEM"), Agents: []Agent{sample()}, Args: map[string]string{}}
	edit(&b)
	return b
}

func TestDigestChangesWithEveryInput(t *testing.T) {
	t.Parallel()
	seen := map[string]string{build(func(*Build) {}).Digest(): "the original"}
	for name, edit := range map[string]func(*Build){
		"base image":        func(b *Build) { b.BaseID = "sha256:2" },
		"CA bundle":         func(b *Build) { b.CABundle = []byte("OTHER") },
		"no CA bundle":      func(b *Build) { b.CABundle = nil },
		"agent version":     func(b *Build) { b.Agents[0].Version = "1.2.4" },
		"agent's script":    func(b *Build) { b.Agents[0].Script = "" },
		"further package":   func(b *Build) { b.Agents[0].Packages = nil },
		"no agent":          func(b *Build) { b.Agents = nil },
		"another agent":     func(b *Build) { b.Agents = append(b.Agents, named("other").Agents...) },
		"Node.js":           func(b *Build) { b.Args["NODE_VERSION"] = "1" },
		"value moved along": func(b *Build) { b.BaseID, b.CABundle = "sha256:1P", []byte("EM") },
	} {
		digest := build(edit).Digest()
		if other, ok := seen[digest]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[digest] = name
	}
}

func TestDigestIgnoresProxies(t *testing.T) {
	t.Parallel()
	plain := build(func(*Build) {}).Digest()
	proxied := build(func(b *Build) { b.Args["HTTPS_PROXY"] = "http://proxy:3128" }).Digest()
	if plain != proxied {
		t.Error("a proxy changes the digest")
	}
}

func TestDigestIgnoresTheOrderOfAgents(t *testing.T) {
	t.Parallel()
	if named("a", "b").Digest() != named("b", "a").Digest() {
		t.Error("the order of the agents changes the digest")
	}
}
