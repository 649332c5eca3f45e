package images

import "testing"

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
