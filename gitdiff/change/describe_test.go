package change

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// twoTrees are the trees of two commits that differ in every way, and their objects.
func twoTrees(t *testing.T) (b *workbench.Bench, from, to string) {
	t.Helper()
	b = workbench.New(t, map[string]string{"edited.go": "package a\n\nfunc F() {}\n", "gone": "gone\n", "old/moved": "1\n2\n3\n4\n5\n", "link": "-> gone"})
	from = b.Head(t).Tree
	b.Git(t, "rm", "-q", "gone", "old/moved")
	gitdifftest.WriteFiles(t, b.Dir, map[string]string{"edited.go": "package a\n\nfunc F() { g() }\n", "binary": "\x00\x01", "new/moved": "1\n2\n3\n4\n5\n"})
	b.Git(t, "add", "-A")
	b.Git(t, "commit", "-q", "-m", "after")
	b.Open(t)
	return b, from, b.Head(t).Tree
}

// A list with the descriptions that another comparison gives is the same as that comparison.
func TestAListWithItsDescriptionsIsTheComparison(t *testing.T) {
	t.Parallel()
	b, from, to := twoTrees(t)
	want, err := Compare(t.Context(), b.Objects, from, to)
	gitdifftest.Must(t, err)
	got, err := List(t.Context(), b.Objects, from, to)
	gitdifftest.Must(t, err)
	d := got.Describer()
	for i := range want.Changes {
		if d.Done() {
			t.Fatal("done before the last change")
		}
		gitdifftest.Must(t, d.Take(want.Changes[i].Description()))
	}
	if !d.Done() || d.Take(Description{}) == nil {
		t.Error("not done after the last change, or one more is taken")
	}
	if diff := cmp.Diff(want.Changes, got.Changes, cmpopts.IgnoreUnexported(Change{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if renamed := want.Changes[len(want.Changes)-2]; renamed.OldName != "old/moved" {
		t.Errorf("no rename: %+v", renamed)
	}
}

func TestImpossibleDescriptionsAreRefused(t *testing.T) {
	t.Parallel()
	b, from, to := twoTrees(t)
	names := []string{"binary", "edited.go", "gone", "new/moved", "old/moved"}
	for reason, c := range map[string]struct {
		name  string
		about Description
	}{
		"negative lines":           {"edited.go", Description{Additions: -1}},
		"too many lines":           {"edited.go", Description{Deletions: 1 << 40}},
		"lines of binary content":  {"binary", Description{Binary: true, Additions: 1}},
		"added lines of a deleted": {"gone", Description{Additions: 1}},
		"deleted lines of a new":   {"binary", Description{Deletions: 1}},
		"long note":                {"edited.go", Description{Note: strings.Repeat("n", 300)}},
		"note of two lines":        {"edited.go", Description{Note: "a\nb"}},
		"rename of a modified":     {"edited.go", Description{OldName: []byte("gone")}},
		"rename from what is kept": {"new/moved", Description{OldName: []byte("edited.go")}},
		"rename from elsewhere":    {"new/moved", Description{OldName: []byte("../../etc/passwd")}},
		"many highlights":          {"edited.go", Description{Highlights: strings.Split(strings.Repeat("x ", 30), " ")}},
		"empty highlight":          {"edited.go", Description{Highlights: []string{""}}},
		"long highlight":           {"edited.go", Description{Highlights: []string{strings.Repeat("h", 1<<12)}}},
		"misleading highlight":     {"edited.go", Description{Highlights: []string{"a\u202eb"}}},
		"highlight with an escape": {"edited.go", Description{Highlights: []string{"a\x1b[2Jb"}}},
	} {
		list, err := List(t.Context(), b.Objects, from, to)
		gitdifftest.Must(t, err)
		d := list.Describer()
		for i, name := range names {
			gitdifftest.Equal(t, "path", list.Changes[i].Name, name)
			if name == c.name {
				if d.Take(c.about) == nil {
					t.Errorf("%s: taken", reason)
				}
				break
			}
			gitdifftest.Must(t, d.Take(Description{}))
		}
	}
}

func TestEverySectionRuleCompiles(t *testing.T) {
	t.Parallel()
	for name, r := range sectionRules {
		if r.line() == nil {
			t.Errorf("%s: no expression", name)
		}
	}
	if anySection.line() == nil || noSection.names("text") {
		t.Error("the usual rule, or that of data")
	}
}
