package gitdiff

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"sandboxrun/runner/step"
)

// worked is a bench with a box's work captured: an added, an edited and a deleted file.
func worked(t testing.TB, b *bench) string {
	t.Helper()
	dir := b.box(t)
	writeFiles(t, dir, map[string]string{"new/deep/file": "n\n", "l": "-> a"})
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("edited\n"), 0o755))
	must(t, os.Remove(filepath.Join(dir, "d/gone")))
	return b.capture(t, dir).Tree
}

var landBase = map[string]string{"a": "a\n", "d/gone": "g\n", "d/kept": "k\n"}

// state is every file of a repository but its objects, with content, mode and owner.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
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
	b := newBench(t, landBase)
	tree := worked(t, b)
	pwn := filepath.Join(t.TempDir(), "PWN")
	for _, hook := range []string{"reference-transaction", "post-commit", "pre-commit", "post-checkout", "post-update"} {
		must(t, os.WriteFile(filepath.Join(b.dir, ".git/hooks", hook), []byte("#!/bin/sh\ntouch "+pwn+"\n"), 0o755))
	}
	b.git(t, "config", "core.fsmonitor", "touch "+pwn)
	b.git(t, "config", "core.logAllRefUpdates", "always")
	before := state(t, b.dir)
	id := b.land(t.Context(), t, "task-1", tree)
	after := state(t, b.dir)

	ref := "/.git/refs/heads/sandboxrun/task-1"
	if !strings.HasSuffix(after[ref], " "+id+"\n") {
		t.Errorf("branch holds %q, want %s", after[ref], id)
	}
	delete(after, ref)
	wantEqual(t, "everything else", after, before)
	if _, err := os.Stat(pwn); err == nil {
		t.Error("a program of the repository ran")
	}

	b.git(t, "config", "--unset", "core.fsmonitor")
	must(t, os.RemoveAll(filepath.Join(b.dir, ".git/hooks")))
	b.git(t, "-c", "core.hooksPath=/dev/null", "fsck", "--strict", "--full")
	wantEqual(t, "tree", b.git(t, "rev-parse", "sandboxrun/task-1^{tree}"), tree)
	wantEqual(t, "parent", b.git(t, "rev-parse", "sandboxrun/task-1^"), b.git(t, "rev-parse", "main"))
	wantEqual(t, "show", b.git(t, "show", "--no-renames", "--format=%an <%ae> %at|%cn <%ce> %ct|%s|%b", "--name-status", "sandboxrun/task-1"),
		"sandboxrun <sandboxrun@localhost> 1700000000|sandboxrun <sandboxrun@localhost> 1700000000|say hello|body\n\n\nM\ta\nD\td/gone\nA\tl\nA\tnew/deep/file")
}

func TestLandOfTheBaseTreeWritesOnlyACommit(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	before := b.git(t, "count-objects")
	b.land(t.Context(), t, "t", b.head(t).Tree)
	wantEqual(t, "loose objects", b.git(t, "count-objects"), before)
	packs, err := filepath.Glob(filepath.Join(b.dir, ".git/objects/pack/*"))
	must(t, err)
	wantEqual(t, "files of one pack", len(packs), 2)
	wantEqual(t, "objects in it", strings.Count(b.git(t, "verify-pack", "-v", packs[0]), " commit "), 1)
}

func TestLandInRepositoriesOfEveryKind(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, b *bench){
		"bare": func(t *testing.T, b *bench) {
			bare := filepath.Join(t.TempDir(), "bare.git")
			b.git(t, "clone", "-q", "--bare", "--no-local", b.dir, bare)
			b.dir = bare
		},
		"linked work tree": func(t *testing.T, b *bench) {
			linked := filepath.Join(t.TempDir(), "linked")
			b.git(t, "worktree", "add", "-q", "-b", "side", linked)
			b.dir = linked
		},
		"borrowing clone": func(t *testing.T, b *bench) {
			clone := filepath.Join(t.TempDir(), "clone")
			b.git(t, "clone", "-q", "--shared", b.dir, clone)
			b.dir = clone
		},
		"shallow": func(t *testing.T, b *bench) {
			b.git(t, "commit", "-q", "--allow-empty", "-m", "second")
			clone := filepath.Join(t.TempDir(), "clone")
			b.git(t, "clone", "-q", "--depth=1", "file://"+b.dir, clone)
			b.dir = clone
		},
		"packed": func(t *testing.T, b *bench) { b.git(t, "gc", "-q") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, landBase)
			prepare(t, b)
			b.open(t)
			tree := worked(t, b)
			id := b.land(t.Context(), t, "t", tree)
			wantEqual(t, "branch", b.git(t, "rev-parse", "refs/heads/sandboxrun/t", "refs/heads/sandboxrun/t^{tree}"), id+"\n"+tree)
			b.git(t, "fsck", "--strict", "--full")
		})
	}
}

// A tree made from uncommitted work has a parent that only the store knows; it is landed too.
func TestLandBringsANewParentAlong(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	dirty := b.box(t)
	must(t, os.WriteFile(filepath.Join(dirty, "dirty"), []byte("d\n"), 0o644))
	l := b.landing(t, "dirty", b.capture(t, dirty).Tree)
	parent, err := b.objects.writeCommit(l)
	must(t, err)
	l = b.landing(t, "t", worked(t, b))
	l.Parent = Commit{ID: parent.String()}
	id, err := b.repo.Land(t.Context(), b.objects, l)
	must(t, err)
	wantEqual(t, "history", b.git(t, "rev-list", "--count", id), "3")
	b.git(t, "fsck", "--strict", "--full")
}

func TestLandOnAnUnbornHead(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir()}
	b.git(t, "init", "-q")
	b.open(t)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"first": "1\n"})
	s, err := capture(t.Context(), captureSource{root: dir, storer: b.objects.storer(), budget: DefaultBudget()})
	must(t, err)
	branch, err := BranchName("t")
	must(t, err)
	id, err := b.repo.Land(t.Context(), b.objects, Landing{Branch: branch, Tree: s.Tree, Message: "first", When: b.landingTime()})
	must(t, err)
	wantEqual(t, "files", b.git(t, "ls-tree", "-r", "--name-only", id), "first")
}

// The last door: a tree with a name git refuses does not get in, however it came into the store.
func TestLandRefusesInvalidTrees(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	blob := plumbing.NewHash(b.git(t, "rev-parse", "HEAD:a"))
	for _, e := range []object.TreeEntry{
		{Name: ".git", Mode: filemode.Regular, Hash: blob}, {Name: ".GIT ", Mode: filemode.Regular, Hash: blob},
		{Name: "..", Mode: filemode.Regular, Hash: blob}, {Name: "a/b", Mode: filemode.Regular, Hash: blob},
		{Name: ".gitmodules", Mode: filemode.Symlink, Hash: blob}, {Name: "x", Mode: 0o060000, Hash: blob},
	} {
		obj := b.objects.storer().NewEncodedObject()
		must(t, (&object.Tree{Entries: []object.TreeEntry{e}}).Encode(obj))
		id, err := b.objects.storer().SetEncodedObject(obj)
		must(t, err)
		if _, err := b.repo.Land(t.Context(), b.objects, b.landing(t, "t", id.String())); !errors.Is(err, errTreeEntry) {
			t.Errorf("%q: error = %v, want %v", e.Name, err, errTreeEntry)
		}
		if got := b.git(t, "for-each-ref", "refs/heads/sandboxrun"); got != "" {
			t.Errorf("%q was landed: %s", e.Name, got)
		}
	}
}

func TestLandRefusesAMissingBlob(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	lost := plumbing.NewHash(strings.Repeat("12", 20))
	id, err := writeTree(b.objects.storer(), []object.TreeEntry{{Name: "x", Mode: filemode.Regular, Hash: lost}}, plumbing.ZeroHash)
	must(t, err)
	var missing *MissingObjectError
	if _, err := b.repo.Land(t.Context(), b.objects, b.landing(t, "t", id.String())); !errors.As(err, &missing) || missing.ID != lost.String() {
		t.Errorf("error = %v, want object %s missing", err, lost)
	}
	wantEqual(t, "branches", b.git(t, "for-each-ref", "refs/heads/sandboxrun"), "")
}

// A mark that cannot be taken away changes nothing about the branch that was made.
func TestLandNamesTheBranchThatWasMadeAlthoughSomethingIsLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	dir := b.box(t)
	writeFiles(t, dir, map[string]string{"new": "new\n"})
	stuck := false
	ctx := step.With(t.Context(), func(n step.Name, _ string) func(error) {
		if n == StepRelease {
			marks, err := filepath.Glob(filepath.Join(b.dir, ".git/objects/pack/*.keep"))
			must(t, err)
			for _, mark := range marks {
				stuck = true
				must(t, errors.Join(os.Remove(mark), os.MkdirAll(filepath.Join(mark, "full"), 0o755)))
			}
		}
		return func(error) {}
	})
	id, err := b.repo.Land(ctx, b.objects, b.landing(t, "stuck", b.capture(t, dir).Tree))
	var left *LitterError
	if !stuck || !errors.As(err, &left) {
		t.Fatalf("error %v, want what is left", err)
	}
	wantEqual(t, "branch", b.git(t, "rev-parse", "sandboxrun/stuck"), id)
}
