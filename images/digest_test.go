package images

import "testing"

func build(edit func(*Build)) Build {
	b := Build{BaseID: "sha256:1", CABundle: []byte("PEM"), Args: map[string]string{"CLAUDE_VERSION": "1.0.0"}}
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
		"agent version":     func(b *Build) { b.Args["CLAUDE_VERSION"] = "1.0.1" },
		"no agent":          func(b *Build) { delete(b.Args, "CLAUDE_VERSION") },
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
