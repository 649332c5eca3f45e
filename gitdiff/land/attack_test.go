package land

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// putBlob stores a blob as a capture does.
func putBlob(t testing.TB, b *workbench.Bench, text string) plumbing.Hash {
	t.Helper()
	obj := b.Objects.Storer().NewEncodedObject()
	obj.SetType(plumbing.BlobObject)
	w, err := obj.Writer()
	gitdifftest.Must(t, err)
	_, err = w.Write([]byte(text))
	gitdifftest.Must(t, errors.Join(err, w.Close()))
	id, err := b.Objects.Storer().SetEncodedObject(obj)
	gitdifftest.Must(t, err)
	return id
}

// putTree stores a tree with the entries as they are.
func putTree(t testing.TB, b *workbench.Bench, entries ...object.TreeEntry) plumbing.Hash {
	t.Helper()
	raw := &strings.Builder{}
	for _, e := range entries {
		raw.WriteString(strings.TrimLeft(e.Mode.String(), "0") + " " + e.Name + "\x00" + string(e.Hash[:]))
	}
	obj := b.Objects.Storer().NewEncodedObject()
	obj.SetType(plumbing.TreeObject)
	w, err := obj.Writer()
	gitdifftest.Must(t, err)
	_, err = w.Write([]byte(raw.String()))
	gitdifftest.Must(t, errors.Join(err, w.Close()))
	id, err := b.Objects.Storer().SetEncodedObject(obj)
	gitdifftest.Must(t, err)
	return id
}

// attacks are trees that "git fsck --strict" refuses, and what it calls them.
func attacks(t testing.TB, b *workbench.Bench) map[string]plumbing.Hash {
	t.Helper()
	x, exe := putBlob(t, b, "x\n"), filemode.Regular
	module := func(text string) plumbing.Hash {
		return putTree(t, b, object.TreeEntry{Name: ".gitmodules", Mode: exe, Hash: putBlob(t, b, text)})
	}
	return map[string]plumbing.Hash{
		"gitmodulesUrl":            module("[submodule \"a\"]\n\tpath = a\n\turl = -u./x\n"),
		"gitmodulesPath":           module("[submodule \"a\"]\n\tpath = -a\n\turl = ./x\n"),
		"gitmodulesName":           module("[submodule \"../a\"]\n\tpath = a\n\turl = ./x\n"),
		"gitmodulesUpdate":         module("[submodule \"a\"]\n\tpath = a\n\turl = ./x\n\tupdate = !sh\n"),
		"gitmodulesSymlink":        putTree(t, b, object.TreeEntry{Name: ".gitmodules", Mode: filemode.Symlink, Hash: x}),
		"gitattributesLineLength":  putTree(t, b, object.TreeEntry{Name: ".gitattributes", Mode: exe, Hash: putBlob(t, b, strings.Repeat("x", 2050)+" text\n")}),
		"hasDotgit":                putTree(t, b, object.TreeEntry{Name: ".GIT", Mode: exe, Hash: x}),
		"hasDotdot":                putTree(t, b, object.TreeEntry{Name: "..", Mode: exe, Hash: x}),
		"fullPathname":             putTree(t, b, object.TreeEntry{Name: "a/b", Mode: exe, Hash: x}),
		"nullSha1":                 putTree(t, b, object.TreeEntry{Name: "a", Mode: exe}),
		"treeNotSorted":            putTree(t, b, object.TreeEntry{Name: "b", Mode: exe, Hash: x}, object.TreeEntry{Name: "a", Mode: exe, Hash: x}),
		"duplicateEntries":         putTree(t, b, object.TreeEntry{Name: "a", Mode: exe, Hash: x}, object.TreeEntry{Name: "a", Mode: exe, Hash: x}),
		"a file as a directory":    putTree(t, b, object.TreeEntry{Name: "a", Mode: filemode.Dir, Hash: x}),
		"a directory as a file":    putTree(t, b, object.TreeEntry{Name: "a", Mode: exe, Hash: putTree(t, b, object.TreeEntry{Name: "b", Mode: exe, Hash: x})}),
		"a link of another length": putTree(t, b, object.TreeEntry{Name: "a", Mode: exe, Hash: plumbing.NewHash(strings.Repeat("12", 20))}),
	}
}

// L06: whatever git's strict checks refuse is refused without git, too.
func TestLandRefusesWhatGitFsckRefuses(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	for name, tree := range attacks(t, b) {
		before := state(t, b.Dir)
		if id, err := Land(t.Context(), b.Repo, b.Objects, landing(t, b, "t", tree.String())); err == nil {
			t.Errorf("%s was landed as %s", name, id)
		}
		gitdifftest.Equal(t, name+": the repository", state(t, b.Dir), before)
	}
	packs, err := os.ReadDir(filepath.Join(b.Dir, ".git/objects/pack"))
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "files left in objects/pack", len(packs), 0)
	b.Git(t, "fsck", "--strict", "--full")
}

// The git of the host finds them by itself: it is a check of its own, not an echo of ours.
func TestGitRefusesThePackOfAnAttack(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git on PATH")
	}
	b := workbench.New(t, landBase)
	for name, tree := range attacks(t, b) {
		if name == "a directory as a file" || name == "a file as a directory" || name == "a link of another length" {
			continue // cannot be collected
		}
		id, err := writeCommit(b.Objects, landing(t, b, "t", tree.String()))
		gitdifftest.Must(t, err)
		set := landingSet{repo: b.Repo, storer: b.Objects.Storer(), seen: map[plumbing.Hash]bool{}}
		gitdifftest.Must(t, set.add(plumbing.CommitObject, id))
		gitdifftest.Must(t, set.add(plumbing.TreeObject, tree))
		entries, err := gitobj.Entries(b.Objects.Storer(), tree)
		gitdifftest.Must(t, err)
		for _, e := range entries {
			if !e.Hash.IsZero() {
				gitdifftest.Must(t, set.add(plumbing.BlobObject, e.Hash))
			}
		}
		pack, err := set.newPack(id.String())
		gitdifftest.Must(t, err)
		gitdifftest.Must(t, set.fill(t.Context(), pack))
		if err := set.strict(t.Context(), pack); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: error = %v, want %v", name, err, ErrRefused)
		} else if !strings.Contains(err.Error(), name) && name != "hasDotgit" {
			t.Errorf("%s: git says %v", name, err)
		}
		gitdifftest.Must(t, pack.close())
	}
}

// Files that git reads are no trouble by themselves, in whatever order they come.
func TestLandOfFilesThatGitReads(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	dir := b.Box(t)
	gitdifftest.WriteFiles(t, dir, map[string]string{
		".gitattributes": "* text=auto\n*.x filter=lfs\n", "sub/.gitattributes": "* -text\n", ".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = ../a\n",
		".gitignore": "*.o\n", ".mailmap": "A <a@localhost>\n", "link": "-> sub/.gitattributes",
	})
	id := mustLand(t.Context(), t, b, "t", capturedForLand(t, b, dir))
	gitdifftest.Equal(t, "branch", b.Git(t, "rev-parse", "sandboxrun/t"), id)
	b.Git(t, "fsck", "--strict", "--full")
}

// What was wrong before is not a landing's fault.
func TestLandBesideOlderTrouble(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n", ".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = -u./x\n"})
	dir := b.Box(t)
	gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("b\n"), 0o644))
	id := mustLand(t.Context(), t, b, "t", capturedForLand(t, b, dir))
	gitdifftest.Equal(t, "branch", b.Git(t, "rev-parse", "sandboxrun/t"), id)
}

// L08: a user's own housekeeping at any moment of a landing takes nothing away. What a landing with plain loose objects
// loses is shown first.
func TestLandSurvivesGarbageCollection(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	gitdifftest.Must(t, os.WriteFile(filepath.Join(b.Dir, "n"), []byte("nobody names this\n"), 0o644))
	loose := b.Git(t, "hash-object", "-w", "n")
	gitdifftest.Must(t, os.Remove(filepath.Join(b.Dir, "n")))
	b.Git(t, "gc", "-q", "--prune=now")
	if exec.CommandContext(t.Context(), "git", "-C", b.Dir, "cat-file", "-e", loose).Run() == nil {
		t.Error("the naive way would have been safe")
	}

	dir := b.Box(t)
	gitdifftest.WriteFiles(t, dir, map[string]string{"x/y": "y\n", "x/z": "-> y"})
	id, err := writeCommit(b.Objects, landing(t, b, "step", capturedForLand(t, b, dir)))
	gitdifftest.Must(t, err)
	set := landingSet{repo: b.Repo, storer: b.Objects.Storer(), seen: map[plumbing.Hash]bool{}}
	gitdifftest.Must(t, set.commit(t.Context(), id, 0))
	pack, err := set.newPack(id.String())
	gitdifftest.Must(t, err)
	housekeeping := func() {
		for _, args := range [][]string{{"gc", "-q", "--prune=now"}, {"repack", "-a", "-d", "-q"}, {"prune", "--expire=now"}, {"pack-refs", "--all"}, {"worktree", "prune"}} {
			b.Git(t, args...)
		}
	}
	housekeeping()
	gitdifftest.Must(t, set.fill(t.Context(), pack))
	housekeeping()
	gitdifftest.Must(t, pack.publish())
	housekeeping()
	gitdifftest.Must(t, createRef(t.Context(), b.Repo, BranchPrefix+"step", id.String(), nil))
	housekeeping()
	gitdifftest.Must(t, pack.release())
	gitdifftest.Must(t, pack.close())
	housekeeping()
	b.Git(t, "fsck", "--strict", "--full")
	gitdifftest.Equal(t, "branch", b.Git(t, "rev-parse", "sandboxrun/step"), id.String())
	gitdifftest.Equal(t, "files", b.Git(t, "ls-tree", "-r", "--name-only", "sandboxrun/step", "x"), "x/y\nx/z")
}

// The same with everything at once.
func TestLandBesideHousekeeping(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		var err error
		defer func() { ended <- err }()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			args := [][]string{{"gc", "-q", "--prune=now"}, {"repack", "-a", "-d", "-q"}, {"prune", "--expire=now"}, {"pack-refs", "--all"}}[i%4]
			// Two of git's own at one time get into each other's way; what counts is the repository afterwards.
			_ = exec.Command("git", append([]string{"-C", b.Dir, "-c", "gc.auto=0"}, args...)...).Run()
		}
	}()
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		dir := b.Box(t)
		gitdifftest.WriteFiles(t, dir, map[string]string{"new/" + name: name + "\n"})
		l := landing(t, b, name, capturedForLand(t, b, dir))
		var id string
		for until := time.Now().Add(20 * time.Second); ; {
			var err error
			if id, err = Land(t.Context(), b.Repo, b.Objects, l); err == nil {
				break
			}
			if !errors.Is(err, ErrRefLocked) || time.Now().After(until) {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
		ids[name] = id
	}
	close(stop)
	gitdifftest.Must(t, <-ended)
	b.Git(t, "fsck", "--strict", "--full", "--connectivity-only")
	for name, id := range ids {
		gitdifftest.Equal(t, name, b.Git(t, "rev-parse", "sandboxrun/"+name), id)
		gitdifftest.Equal(t, name+"'s file", b.Git(t, "cat-file", "blob", "sandboxrun/"+name+":new/"+name), name)
	}
	left, err := filepath.Glob(filepath.Join(b.Dir, ".git/objects/pack/*"))
	gitdifftest.Must(t, err)
	for _, path := range left {
		if strings.HasSuffix(path, ".keep") || strings.Contains(path, stagePrefix) {
			t.Errorf("left behind: %s", path)
		}
	}
}

// What a dead landing left is removed by the next one, but not before it must be dead, and nothing of anybody else's.
func TestLandSweepsAfterDeadLandings(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	packs := filepath.Join(b.Dir, ".git/objects/pack")
	old := time.Now().Add(-2 * stageMaxAge)
	for name, text := range map[string]string{"pack-1.keep": keepPrefix + "x\n", "pack-2.keep": "mine\n", "pack-3.keep": keepPrefix + "y\n"} {
		gitdifftest.Must(t, os.WriteFile(filepath.Join(packs, name), []byte(text), 0o644))
	}
	for _, name := range []string{stagePrefix + "dead", stagePrefix + "alive", "other"} {
		gitdifftest.Must(t, os.MkdirAll(filepath.Join(packs, name, "check"), 0o755))
	}
	for _, name := range []string{"pack-1.keep", "pack-2.keep", stagePrefix + "dead", "other"} {
		gitdifftest.Must(t, os.Chtimes(filepath.Join(packs, name), old, old))
	}
	mustLand(t.Context(), t, b, "t", worked(t, b))
	var left []string
	for _, pattern := range []string{"*.keep", "*[a-z]"} {
		found, err := filepath.Glob(filepath.Join(packs, pattern))
		gitdifftest.Must(t, err)
		for _, path := range found {
			if name := filepath.Base(path); !strings.HasSuffix(name, ".pack") && !strings.HasSuffix(name, ".idx") && (pattern == "*.keep") == strings.HasSuffix(name, ".keep") {
				left = append(left, name)
			}
		}
	}
	gitdifftest.Equal(t, "left", left, []string{"pack-2.keep", "pack-3.keep", "other", stagePrefix + "alive"})
}

// A landing whose runner died leaves nothing that gc may not touch. Its pack stays, as the user may have come to refer to
// what is in it.
func TestLandedClearsThePackOfADeadLanding(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	tree := worked(t, b)
	for _, made := range []bool{false, true} {
		l := landing(t, b, "dead", tree)
		id, err := writeCommit(b.Objects, l)
		gitdifftest.Must(t, err)
		set := landingSet{repo: b.Repo, storer: b.Objects.Storer(), seen: map[plumbing.Hash]bool{}}
		gitdifftest.Must(t, set.commit(t.Context(), id, 0))
		pack, err := set.newPack(id.String())
		gitdifftest.Must(t, err)
		gitdifftest.Must(t, set.fill(t.Context(), pack))
		gitdifftest.Must(t, pack.publish())
		if made {
			gitdifftest.Must(t, createRef(t.Context(), b.Repo, l.Branch, id.String(), nil))
		}
		landed, err := Landed(b.Repo, id.String(), l.Branch)
		gitdifftest.Must(t, err)
		gitdifftest.Equal(t, "landed", landed, made)
		left, err := os.ReadDir(filepath.Join(b.Dir, ".git/objects/pack"))
		gitdifftest.Must(t, err)
		for _, e := range left {
			if end := filepath.Ext(e.Name()); end != ".idx" && end != ".pack" && end != ".rev" {
				t.Errorf("left behind: %s", e.Name())
			}
		}
		b.Git(t, "cat-file", "-e", id.String())
		if !made {
			b.Git(t, "gc", "-q", "--prune=now")
			if err := exec.CommandContext(t.Context(), "git", "-C", b.Dir, "cat-file", "-e", id.String()).Run(); err == nil {
				t.Error("gc does not remove what nobody refers to")
			}
		}
	}
	b.Git(t, "fsck", "--strict", "--full")
}

// Output of a process arrives by way of io.Copy, which prefers a ReadFrom to Write.
func TestOutputOfGitIsBounded(t *testing.T) {
	t.Parallel()
	var copied, ran cutBuffer
	_, err := io.Copy(&copied, strings.NewReader(strings.Repeat("x", 3*strictOutput)))
	gitdifftest.Must(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "head -c 1000000 /dev/zero >&2")
	cmd.Stderr = &ran
	gitdifftest.Must(t, cmd.Run())
	gitdifftest.Equal(t, "copied", len(copied.String()), strictOutput)
	gitdifftest.Equal(t, "ran", len(ran.String()), strictOutput)
}
