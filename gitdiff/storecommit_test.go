package gitdiff

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
)

// Turns that were never landed come along with the first one that is, however
// many they are.
func TestLandBringsStoredCommitsAlong(t *testing.T) {
	t.Parallel()
	user := gitdifftest.Sample(t)
	repo := mustOpen(t, user)
	objects := mustObjects(t, repo)
	parent := mustResolve(t, repo, "HEAD")
	tree := user.Tree("100644 blob " + user.Blob("hello\n") + "\thello.txt")
	want := []string{parent.ID}
	when := time.Unix(1_700_000_000, 5).UTC()
	for i := range 40 {
		c, err := objects.StoreCommit(Landing{Parent: parent, Tree: tree, Message: fmt.Sprintf("turn %d", i), When: when})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := objects.Tree(t.Context(), c.ID); err != nil || got != tree || !c.Time.Equal(when.Truncate(time.Second)) {
			t.Fatalf("stored %+v, tree %s, %v", c, got, err)
		}
		parent = c
		want = append(want, c.ID)
	}
	if refs := user.Git("for-each-ref", "--format=%(refname)", BranchPrefix); refs != "" {
		t.Errorf("storing made %s", refs)
	}
	branch, err := BranchName("task")
	if err != nil {
		t.Fatal(err)
	}
	id, err := repo.Land(t.Context(), objects, Landing{Branch: branch, Parent: parent, Tree: tree, Message: "last", When: when})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(user.Git("log", "--format=%H", branch))
	slices.Reverse(got)
	if i := slices.Index(got, want[0]); i < 0 || !slices.Equal(got[i:], append(want, id)) {
		t.Errorf("history %v", got)
	}
	user.Git("fsck", "--strict")
}

func TestStoreCommitRefusesWhatIsNoTree(t *testing.T) {
	t.Parallel()
	objects := mustObjects(t, mustOpen(t, gitdifftest.Sample(t)))
	if _, err := objects.StoreCommit(Landing{Tree: "x", When: time.Unix(1, 0)}); err == nil {
		t.Error("no error")
	}
}
