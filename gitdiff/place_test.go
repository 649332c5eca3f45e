package gitdiff_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/gitobj"
)

// Objects opened at their place read what the repository and its borrowed directories have, and write to the store only.
func TestObjectsOpenedAtTheirPlaceAreTheSame(t *testing.T) {
	t.Parallel()
	user := gitdifftest.Sample(t).Borrowing()
	before := gitdifftest.Fingerprint(t, user.Dir)
	repo := workbench.Open(t, user)
	first := workbench.Objects(t, repo)
	place := first.Place()
	second, err := gitdiff.OpenAt(place)
	gitdifftest.Must(t, err)
	workbench.CloseLater(t, second)
	gitdifftest.Must(t, second.CheckTree(user.Git("rev-parse", "HEAD^{tree}")))
	id, err := second.Blobs().Write(strings.NewReader("new\n"), 4, plumbing.ZeroHash)
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, first.Storer().HasEncodedObject(id))
	if _, err := os.Stat(filepath.Join(place.Written(), id.String()[:2], id.String()[2:])); err != nil {
		t.Error(err)
	}
	if repo, err := repo.HasObject(id); err != nil || repo {
		t.Errorf("the user's repository has the new object: %v, %v", repo, err)
	}
	gitdifftest.Equal(t, "fingerprint", gitdifftest.Fingerprint(t, user.Dir), before)
	missing := (*gitobj.MissingError)(nil)
	for name, hex := range map[string]string{"blob": id.String(), "missing": strings.Repeat("1", 40)} {
		if err := second.CheckTree(hex); !errors.As(err, &missing) {
			t.Errorf("%s as a tree: %v", name, err)
		}
	}
	if err := second.CheckTree("HEAD"); err == nil {
		t.Error("a name is taken for an id")
	}
}

func TestFindingsOfAnotherProcessAreChecked(t *testing.T) {
	t.Parallel()
	good := gitdiff.Finding{Code: gitdiff.DangerousPath, Path: "a \xff", Detail: "x", Grade: gitdiff.Refuse, Class: "git_settings"}
	gitdifftest.Must(t, good.Check())
	for name, spoil := range map[string]func(*gitdiff.Finding){
		"code": func(f *gitdiff.Finding) { f.Code = "acceptance_failed" }, "grade": func(f *gitdiff.Finding) { f.Grade = 3 },
		"negative grade": func(f *gitdiff.Finding) { f.Grade = -1 }, "long path": func(f *gitdiff.Finding) { f.Path = strings.Repeat("p", 1<<15) },
		"NUL": func(f *gitdiff.Finding) { f.Path = "a\x00" }, "long detail": func(f *gitdiff.Finding) { f.Detail = strings.Repeat("d", 1<<15) },
		"class": func(f *gitdiff.Finding) { f.Class = "a b" }, "long class": func(f *gitdiff.Finding) { f.Class = strings.Repeat("c", 100) },
	} {
		f := good
		if spoil(&f); f.Check() == nil {
			t.Errorf("%s: %+v passes", name, f)
		}
	}
}
