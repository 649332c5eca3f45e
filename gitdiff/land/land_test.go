package land

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/step"
)

// worked is a bench with a box's work captured: an added, an edited and a deleted file.
func worked(t testing.TB, b *workbench.Bench) string {
	t.Helper()
	dir := b.Box(t)
	gitdifftest.WriteFiles(t, dir, map[string]string{"new/deep/file": "n\n", "l": "-> a"})
	gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("edited\n"), 0o755))
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "d/gone")))
	return capturedForLand(t, b, dir)
}

var landBase = map[string]string{"a": "a\n", "d/gone": "g\n", "d/kept": "k\n"}

// state is every file of a repository but its objects, with content, mode and owner.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	gitdifftest.Must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		if strings.Contains(name, "/objects/") || e.IsDir() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = info.Mode().String() + " " + info.ModTime().String() + " " + string(text)
		return err
	}))
	return files
}

func TestLandMakesOneBranchAndTouchesNothingElse(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	tree := worked(t, b)
	pwn := filepath.Join(t.TempDir(), "PWN")
	for _, hook := range []string{"reference-transaction", "post-commit", "pre-commit", "post-checkout", "post-update"} {
		gitdifftest.Must(t, os.WriteFile(filepath.Join(b.Dir, ".git/hooks", hook), []byte("#!/bin/sh\ntouch "+pwn+"\n"), 0o755))
	}
	b.Git(t, "config", "core.fsmonitor", "touch "+pwn)
	b.Git(t, "config", "core.logAllRefUpdates", "always")
	before := state(t, b.Dir)
	id := mustLand(t.Context(), t, b, "task-1", tree)
	after := state(t, b.Dir)

	ref := "/.git/refs/heads/sandboxrun/task-1"
	if !strings.HasSuffix(after[ref], " "+id+"\n") {
		t.Errorf("branch holds %q, want %s", after[ref], id)
	}
	delete(after, ref)
	gitdifftest.Equal(t, "everything else", after, before)
	if _, err := os.Stat(pwn); err == nil {
		t.Error("a program of the repository ran")
	}

	b.Git(t, "config", "--unset", "core.fsmonitor")
	gitdifftest.Must(t, os.RemoveAll(filepath.Join(b.Dir, ".git/hooks")))
	b.Git(t, "-c", "core.hooksPath=/dev/null", "fsck", "--strict", "--full")
	gitdifftest.Equal(t, "tree", b.Git(t, "rev-parse", "sandboxrun/task-1^{tree}"), tree)
	gitdifftest.Equal(t, "parent", b.Git(t, "rev-parse", "sandboxrun/task-1^"), b.Git(t, "rev-parse", "main"))
	gitdifftest.Equal(t, "show", b.Git(t, "show", "--no-renames", "--format=%an <%ae> %at|%cn <%ce> %ct|%s|%b", "--name-status", "sandboxrun/task-1"),
		"sandboxrun <sandboxrun@localhost> 1700000000|sandboxrun <sandboxrun@localhost> 1700000000|say hello|body\n\n\nM\ta\nD\td/gone\nA\tl\nA\tnew/deep/file")
}

func TestLandOfTheBaseTreeWritesOnlyACommit(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	before := b.Git(t, "count-objects")
	mustLand(t.Context(), t, b, "t", b.Head(t).Tree)
	gitdifftest.Equal(t, "loose objects", b.Git(t, "count-objects"), before)
	packs, err := filepath.Glob(filepath.Join(b.Dir, ".git/objects/pack/*"))
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "files of one pack", len(packs), 2)
	gitdifftest.Equal(t, "objects in it", strings.Count(b.Git(t, "verify-pack", "-v", packs[0]), " commit "), 1)
}

func TestLandInRepositoriesOfEveryKind(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, b *workbench.Bench){
		"bare": func(t *testing.T, b *workbench.Bench) {
			bare := filepath.Join(t.TempDir(), "bare.git")
			b.Git(t, "clone", "-q", "--bare", "--no-local", b.Dir, bare)
			b.Dir = bare
		},
		"linked work tree": func(t *testing.T, b *workbench.Bench) {
			linked := filepath.Join(t.TempDir(), "linked")
			b.Git(t, "worktree", "add", "-q", "-b", "side", linked)
			b.Dir = linked
		},
		"borrowing clone": func(t *testing.T, b *workbench.Bench) {
			clone := filepath.Join(t.TempDir(), "clone")
			b.Git(t, "clone", "-q", "--shared", b.Dir, clone)
			b.Dir = clone
		},
		"shallow": func(t *testing.T, b *workbench.Bench) {
			b.Git(t, "commit", "-q", "--allow-empty", "-m", "second")
			clone := filepath.Join(t.TempDir(), "clone")
			b.Git(t, "clone", "-q", "--depth=1", "file://"+b.Dir, clone)
			b.Dir = clone
		},
		"packed": func(t *testing.T, b *workbench.Bench) { b.Git(t, "gc", "-q") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := workbench.New(t, landBase)
			prepare(t, b)
			b.Open(t)
			tree := worked(t, b)
			id := mustLand(t.Context(), t, b, "t", tree)
			gitdifftest.Equal(t, "branch", b.Git(t, "rev-parse", "refs/heads/sandboxrun/t", "refs/heads/sandboxrun/t^{tree}"), id+"\n"+tree)
			b.Git(t, "fsck", "--strict", "--full")
		})
	}
}

// A tree made from uncommitted work has a parent that only the store knows; it is landed too.
func TestLandBringsANewParentAlong(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	dirty := b.Box(t)
	gitdifftest.Must(t, os.WriteFile(filepath.Join(dirty, "dirty"), []byte("d\n"), 0o644))
	l := landing(t, b, "dirty", capturedForLand(t, b, dirty))
	parent, err := writeCommit(b.Objects, l)
	gitdifftest.Must(t, err)
	l = landing(t, b, "t", worked(t, b))
	l.Parent = gitdiff.Commit{ID: parent.String()}
	id, err := Land(t.Context(), b.Repo, b.Objects, l)
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "history", b.Git(t, "rev-list", "--count", id), "3")
	b.Git(t, "fsck", "--strict", "--full")
}

func TestLandOnAnUnbornHead(t *testing.T) {
	t.Parallel()
	b := &workbench.Bench{Dir: t.TempDir()}
	b.Git(t, "init", "-q")
	b.Open(t)
	dir := t.TempDir()
	gitdifftest.WriteFiles(t, dir, map[string]string{"first": "1\n"})
	s, err := capture.Capture(t.Context(), capture.Source{Root: dir, Objects: b.Objects, Budget: capture.DefaultBudget()})
	gitdifftest.Must(t, err)
	branch, err := BranchName("t")
	gitdifftest.Must(t, err)
	id, err := Land(t.Context(), b.Repo, b.Objects, Landing{Branch: branch, Tree: s.Tree, Message: "first", When: landingTime()})
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "files", b.Git(t, "ls-tree", "-r", "--name-only", id), "first")
}

// The last door: a tree with a name git refuses does not get in, however it came into the store.
func TestLandRefusesInvalidTrees(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	blob := plumbing.NewHash(b.Git(t, "rev-parse", "HEAD:a"))
	for _, e := range []object.TreeEntry{
		{Name: ".git", Mode: filemode.Regular, Hash: blob}, {Name: ".GIT ", Mode: filemode.Regular, Hash: blob},
		{Name: "..", Mode: filemode.Regular, Hash: blob}, {Name: "a/b", Mode: filemode.Regular, Hash: blob},
		{Name: ".gitmodules", Mode: filemode.Symlink, Hash: blob}, {Name: "x", Mode: 0o060000, Hash: blob},
	} {
		obj := b.Objects.Storer().NewEncodedObject()
		gitdifftest.Must(t, (&object.Tree{Entries: []object.TreeEntry{e}}).Encode(obj))
		id, err := b.Objects.Storer().SetEncodedObject(obj)
		gitdifftest.Must(t, err)
		if _, err := Land(t.Context(), b.Repo, b.Objects, landing(t, b, "t", id.String())); !errors.Is(err, gitobj.ErrTreeEntry) {
			t.Errorf("%q: error = %v, want %v", e.Name, err, gitobj.ErrTreeEntry)
		}
		if got := b.Git(t, "for-each-ref", "refs/heads/sandboxrun"); got != "" {
			t.Errorf("%q was landed: %s", e.Name, got)
		}
	}
}

func TestLandRefusesAMissingBlob(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	lost := plumbing.NewHash(strings.Repeat("12", 20))
	id, err := gitobj.WriteTree(b.Objects.Storer(), []object.TreeEntry{{Name: "x", Mode: filemode.Regular, Hash: lost}}, plumbing.ZeroHash)
	gitdifftest.Must(t, err)
	var missing *gitobj.MissingError
	if _, err := Land(t.Context(), b.Repo, b.Objects, landing(t, b, "t", id.String())); !errors.As(err, &missing) || missing.ID != lost.String() {
		t.Errorf("error = %v, want object %s missing", err, lost)
	}
	gitdifftest.Equal(t, "branches", b.Git(t, "for-each-ref", "refs/heads/sandboxrun"), "")
}

// A mark that cannot be taken away changes nothing about the branch that was made.
func TestLandNamesTheBranchThatWasMadeAlthoughSomethingIsLeft(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	dir := b.Box(t)
	gitdifftest.WriteFiles(t, dir, map[string]string{"new": "new\n"})
	stuck := false
	journal := func(n step.Name, _ string) func(error) {
		return func(error) {
			if n != StepRef {
				return
			}
			marks, err := filepath.Glob(filepath.Join(b.Dir, ".git/objects/pack/*.keep"))
			gitdifftest.Must(t, err)
			for _, mark := range marks {
				stuck = true
				gitdifftest.Must(t, errors.Join(os.Remove(mark), os.MkdirAll(filepath.Join(mark, "full"), 0o755)))
			}
		}
	}
	l := landing(t, b, "stuck", capturedForLand(t, b, dir))
	l.Journal = journal
	id, err := Land(t.Context(), b.Repo, b.Objects, l)
	var left *LitterError
	if !stuck || !errors.As(err, &left) {
		t.Fatalf("error %v, want what is left", err)
	}
	gitdifftest.Equal(t, "branch", b.Git(t, "rev-parse", "sandboxrun/stuck"), id)
}

// Turns that were never landed come along with the first one that is, however
// many they are.
func TestLandBringsStoredCommitsAlong(t *testing.T) {
	t.Parallel()
	user := gitdifftest.Sample(t)
	repo := workbench.Open(t, user)
	objects := workbench.Objects(t, repo)
	parent := workbench.Resolve(t, repo, "HEAD")
	tree := user.Tree("100644 blob " + user.Blob("hello\n") + "\thello.txt")
	want := []string{parent.ID}
	when := time.Unix(1_700_000_000, 5).UTC()
	for i := range 40 {
		c, err := StoreCommit(objects, Landing{Parent: parent, Tree: tree, Message: fmt.Sprintf("turn %d", i), When: when})
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
	id, err := Land(t.Context(), repo, objects, Landing{Branch: branch, Parent: parent, Tree: tree, Message: "last", When: when})
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
	objects := workbench.Objects(t, workbench.Open(t, gitdifftest.Sample(t)))
	if _, err := StoreCommit(objects, Landing{Tree: "x", When: time.Unix(1, 0)}); err == nil {
		t.Error("no error")
	}
}
