package scan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/internal/redact"
)

const testSecret = "not-a-real-key-0123456789"

func testPolicy(t *testing.T) Policy {
	t.Helper()
	secrets := &redact.Redactor{}
	if err := secrets.Add("ANTHROPIC_API_KEY", testSecret); err != nil {
		t.Fatal(err)
	}
	return Policy{Secrets: secrets}
}

// changed is a change that adds these files.
func changed(t *testing.T, files map[string]string) *change.Diff {
	t.Helper()
	r := gitdifftest.New(t)
	r.Write("base", "x\n")
	r.Commit("base")
	before := r.Git("rev-parse", "HEAD^{tree}")
	for name, text := range files {
		r.Write(name, text)
	}
	r.Commit("after")
	objects := workbench.Objects(t, workbench.Open(t, r))
	diff, err := change.Compare(t.Context(), objects, before, r.Git("rev-parse", "HEAD^{tree}"))
	if err != nil {
		t.Fatal(err)
	}
	return diff
}

func TestALargeTextIsSearchedAsAWhole(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("0123456789 ", 9) + "\n"
	text := strings.Repeat(line, (3*piece-300)/len(line)) // the token lies on the border of two pieces
	token := "gh" + "p_" + "w7Kd93nTqLx20VbYpRcE5uJfHs81ZaMgOi6N"
	text += token + "\n" + testSecret + "\n" + strings.Repeat(line, (9<<20)/len(line))
	before, _, _ := strings.Cut(text, token)
	at := strings.Count(before, "\n")
	found, err := Change(t.Context(), changed(t, map[string]string{"big.txt": text}), testPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	if places := found.Places; len(places) != 2 || !strings.Contains(places[0].What, fmt.Sprintf("line %d looks like a secret (rule github-pat", at+1)) || !strings.Contains(places[1].What, "holds the value of") {
		t.Errorf("places %+v, want line %d", places, at+1)
	}
	if !found.Known {
		t.Error("the value is not known")
	}
}

// One NUL byte makes git take a text for binary. It hid the whole file from the
// rules, and a NUL inside of a value hid that from everything.
func TestANULByteHidesNoSecret(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_" + "w7Kd93nTqLx20VbYpRcE5uJfHs81ZaMgOi6N"
	wide := func(text string) string { return strings.Join(strings.Split(text, ""), "\x00") + "\x00" }
	for name, tc := range map[string]struct {
		text string
		says string
	}{
		"before a token":           {"x\x00\n" + token + "\n", "line 2 looks like a secret (rule github-pat"},
		"before a known value":     {"x\x00\n" + testSecret + "\n", "holds the value of"},
		"within a token":           {"x\n" + token[:20] + "\x00" + token[20:] + "\n", "looks like a secret (rule github-pat"},
		"within a known value":     {"x\n" + testSecret[:9] + "\x00" + testSecret[9:] + "\n", "holds the value of"},
		"far behind, in a value":   {strings.Repeat("x\n", 5000) + testSecret[:9] + "\x00" + testSecret[9:] + "\n", "line 5001 holds the value of"},
		"far behind, behind NULs":  {strings.Repeat("x\n", 5000) + strings.Repeat("\x00\x00\x00\n", 100) + testSecret + "\n", "line 5101 holds the value of"},
		"a token in UTF-16":        {"\xff\xfe" + wide("x\n"+token+"\n"), "looks like a secret (rule github-pat"},
		"a known value in UTF-16":  {"\xff\xfe" + wide("x\n"+testSecret+"\n"), "holds the value of"},
		"UTF-16 without its mark":  {wide("x\n" + token + "\n"), "looks like a secret (rule github-pat"},
		"big-endian without marks": {"\x00" + wide("x\n" + token + "\n")[:2*len(token)+4], "looks like a secret (rule github-pat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := Change(t.Context(), changed(t, map[string]string{"a.txt": tc.text}), testPolicy(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Places) != 1 || !strings.Contains(found.Places[0].What, tc.says) || !found.Found {
				t.Errorf("leaks %+v, want one that says %q", found, tc.says)
			}
		})
	}
}

func TestASearchThatTakesTooLongIsIncomplete(t *testing.T) {
	t.Parallel()
	diff := changed(t, map[string]string{"a.txt": "api_key\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBound)
	found, err := Change(ctx, diff, testPolicy(t))
	if err != nil || !found.Found || !errors.Is(found.Incomplete, errBound) {
		t.Errorf("leaks %+v, error %v", found, err)
	}
}

func TestPlacesWithSecretsAreCountedBeyondTheirBound(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range 300 {
		b.WriteString("- context\n" + testSecret + "\n")
	}
	files := map[string]string{}
	for i := range 3 * maxPlaces {
		files[strings.Repeat("d", i+1)] = b.String()
	}
	found, err := Change(t.Context(), changed(t, files), testPolicy(t))
	if err != nil || len(found.Places) != maxPlaces || found.Further != 40 {
		t.Errorf("%d places, %d further, error %v", len(found.Places), found.Further, err)
	}
}
