package gitdiff

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// putBlob stores a blob as a capture does.
func (b *bench) putBlob(t testing.TB, text string) plumbing.Hash {
	t.Helper()
	obj := b.objects.storer().NewEncodedObject()
	obj.SetType(plumbing.BlobObject)
	w, err := obj.Writer()
	must(t, err)
	_, err = w.Write([]byte(text))
	must(t, errors.Join(err, w.Close()))
	id, err := b.objects.storer().SetEncodedObject(obj)
	must(t, err)
	return id
}

// putTree stores a tree with the entries as they are.
func (b *bench) putTree(t testing.TB, entries ...object.TreeEntry) plumbing.Hash {
	t.Helper()
	raw := &strings.Builder{}
	for _, e := range entries {
		raw.WriteString(strings.TrimLeft(e.Mode.String(), "0") + " " + e.Name + "\x00" + string(e.Hash[:]))
	}
	obj := b.objects.storer().NewEncodedObject()
	obj.SetType(plumbing.TreeObject)
	w, err := obj.Writer()
	must(t, err)
	_, err = w.Write([]byte(raw.String()))
	must(t, errors.Join(err, w.Close()))
	id, err := b.objects.storer().SetEncodedObject(obj)
	must(t, err)
	return id
}

// attacks are trees that "git fsck --strict" refuses, and what it calls them.
func attacks(t testing.TB, b *bench) map[string]plumbing.Hash {
	t.Helper()
	x, exe := b.putBlob(t, "x\n"), filemode.Regular
	module := func(text string) plumbing.Hash {
		return b.putTree(t, object.TreeEntry{Name: ".gitmodules", Mode: exe, Hash: b.putBlob(t, text)})
	}
	return map[string]plumbing.Hash{
		"gitmodulesUrl":            module("[submodule \"a\"]\n\tpath = a\n\turl = -u./x\n"),
		"gitmodulesPath":           module("[submodule \"a\"]\n\tpath = -a\n\turl = ./x\n"),
		"gitmodulesName":           module("[submodule \"../a\"]\n\tpath = a\n\turl = ./x\n"),
		"gitmodulesUpdate":         module("[submodule \"a\"]\n\tpath = a\n\turl = ./x\n\tupdate = !sh\n"),
		"gitmodulesSymlink":        b.putTree(t, object.TreeEntry{Name: ".gitmodules", Mode: filemode.Symlink, Hash: x}),
		"gitattributesLineLength":  b.putTree(t, object.TreeEntry{Name: ".gitattributes", Mode: exe, Hash: b.putBlob(t, strings.Repeat("x", 2050)+" text\n")}),
		"hasDotgit":                b.putTree(t, object.TreeEntry{Name: ".GIT", Mode: exe, Hash: x}),
		"hasDotdot":                b.putTree(t, object.TreeEntry{Name: "..", Mode: exe, Hash: x}),
		"fullPathname":             b.putTree(t, object.TreeEntry{Name: "a/b", Mode: exe, Hash: x}),
		"nullSha1":                 b.putTree(t, object.TreeEntry{Name: "a", Mode: exe}),
		"treeNotSorted":            b.putTree(t, object.TreeEntry{Name: "b", Mode: exe, Hash: x}, object.TreeEntry{Name: "a", Mode: exe, Hash: x}),
		"duplicateEntries":         b.putTree(t, object.TreeEntry{Name: "a", Mode: exe, Hash: x}, object.TreeEntry{Name: "a", Mode: exe, Hash: x}),
		"a file as a directory":    b.putTree(t, object.TreeEntry{Name: "a", Mode: filemode.Dir, Hash: x}),
		"a directory as a file":    b.putTree(t, object.TreeEntry{Name: "a", Mode: exe, Hash: b.putTree(t, object.TreeEntry{Name: "b", Mode: exe, Hash: x})}),
		"a link of another length": b.putTree(t, object.TreeEntry{Name: "a", Mode: exe, Hash: plumbing.NewHash(strings.Repeat("12", 20))}),
	}
}

// L06: whatever git's strict checks refuse is refused without git, too.
func TestLandRefusesWhatGitFsckRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	for name, tree := range attacks(t, b) {
		before := state(t, b.dir)
		if id, err := b.repo.Land(t.Context(), b.objects, b.landing(t, "t", tree.String())); err == nil {
			t.Errorf("%s was landed as %s", name, id)
		}
		wantEqual(t, name+": the repository", state(t, b.dir), before)
	}
	packs, err := os.ReadDir(filepath.Join(b.dir, ".git/objects/pack"))
	must(t, err)
	wantEqual(t, "files left in objects/pack", len(packs), 0)
	b.git(t, "fsck", "--strict", "--full")
}

// The git of the host finds them by itself: it is a check of its own, not an echo of ours.
func TestGitRefusesThePackOfAnAttack(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git on PATH")
	}
	b := newBench(t, landBase)
	for name, tree := range attacks(t, b) {
		if name == "a directory as a file" || name == "a file as a directory" || name == "a link of another length" {
			continue // cannot be collected
		}
		id, err := b.objects.writeCommit(b.landing(t, "t", tree.String()))
		must(t, err)
		set := landingSet{repo: b.repo, storer: b.objects.storer(), seen: map[plumbing.Hash]bool{}}
		must(t, set.add(plumbing.CommitObject, id))
		must(t, set.add(plumbing.TreeObject, tree))
		entries, err := treeEntries(b.objects.storer(), tree)
		must(t, err)
		for _, e := range entries {
			if !e.Hash.IsZero() {
				must(t, set.add(plumbing.BlobObject, e.Hash))
			}
		}
		pack, err := set.newPack(id.String())
		must(t, err)
		must(t, set.fill(t.Context(), pack))
		if err := set.strict(t.Context(), pack); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: error = %v, want %v", name, err, ErrRefused)
		} else if !strings.Contains(err.Error(), name) && name != "hasDotgit" {
			t.Errorf("%s: git says %v", name, err)
		}
		must(t, pack.close())
	}
}

// Files that git reads are no trouble by themselves, in whatever order they come.
func TestLandOfFilesThatGitReads(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	dir := b.box(t)
	writeFiles(t, dir, map[string]string{
		".gitattributes": "* text=auto\n*.x filter=lfs\n", "sub/.gitattributes": "* -text\n", ".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = ../a\n",
		".gitignore": "*.o\n", ".mailmap": "A <a@localhost>\n", "link": "-> sub/.gitattributes",
	})
	id := b.land(t.Context(), t, "t", b.capture(t, dir).Tree)
	wantEqual(t, "branch", b.git(t, "rev-parse", "sandboxrun/t"), id)
	b.git(t, "fsck", "--strict", "--full")
}

// What was wrong before is not a landing's fault.
func TestLandBesideOlderTrouble(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n", ".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = -u./x\n"})
	dir := b.box(t)
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("b\n"), 0o644))
	id := b.land(t.Context(), t, "t", b.capture(t, dir).Tree)
	wantEqual(t, "branch", b.git(t, "rev-parse", "sandboxrun/t"), id)
}

// L08: a user's own housekeeping at any moment of a landing takes nothing away. What a landing with plain loose objects
// loses is shown first.
func TestLandSurvivesGarbageCollection(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	must(t, os.WriteFile(filepath.Join(b.dir, "n"), []byte("nobody names this\n"), 0o644))
	loose := b.git(t, "hash-object", "-w", "n")
	must(t, os.Remove(filepath.Join(b.dir, "n")))
	b.git(t, "gc", "-q", "--prune=now")
	if exec.CommandContext(t.Context(), "git", "-C", b.dir, "cat-file", "-e", loose).Run() == nil {
		t.Error("the naive way would have been safe")
	}

	dir := b.box(t)
	writeFiles(t, dir, map[string]string{"x/y": "y\n", "x/z": "-> y"})
	id, err := b.objects.writeCommit(b.landing(t, "step", b.capture(t, dir).Tree))
	must(t, err)
	set := landingSet{repo: b.repo, storer: b.objects.storer(), seen: map[plumbing.Hash]bool{}}
	must(t, set.commit(t.Context(), id, 0))
	pack, err := set.newPack(id.String())
	must(t, err)
	housekeeping := func() {
		for _, args := range [][]string{{"gc", "-q", "--prune=now"}, {"repack", "-a", "-d", "-q"}, {"prune", "--expire=now"}, {"pack-refs", "--all"}, {"worktree", "prune"}} {
			b.git(t, args...)
		}
	}
	housekeeping()
	must(t, set.fill(t.Context(), pack))
	housekeeping()
	must(t, pack.publish(t.Context()))
	housekeeping()
	must(t, b.repo.createRef(t.Context(), BranchPrefix+"step", id.String()))
	housekeeping()
	must(t, pack.release())
	must(t, pack.close())
	housekeeping()
	b.git(t, "fsck", "--strict", "--full")
	wantEqual(t, "branch", b.git(t, "rev-parse", "sandboxrun/step"), id.String())
	wantEqual(t, "files", b.git(t, "ls-tree", "-r", "--name-only", "sandboxrun/step", "x"), "x/y\nx/z")
}

// The same with everything at once.
func TestLandBesideHousekeeping(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
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
			_ = exec.Command("git", append([]string{"-C", b.dir, "-c", "gc.auto=0"}, args...)...).Run()
		}
	}()
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		dir := b.box(t)
		writeFiles(t, dir, map[string]string{"new/" + name: name + "\n"})
		l := b.landing(t, name, b.capture(t, dir).Tree)
		var id string
		for until := time.Now().Add(20 * time.Second); ; {
			var err error
			if id, err = b.repo.Land(t.Context(), b.objects, l); err == nil {
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
	must(t, <-ended)
	b.git(t, "fsck", "--strict", "--full", "--connectivity-only")
	for name, id := range ids {
		wantEqual(t, name, b.git(t, "rev-parse", "sandboxrun/"+name), id)
		wantEqual(t, name+"'s file", b.git(t, "cat-file", "blob", "sandboxrun/"+name+":new/"+name), name)
	}
	left, err := filepath.Glob(filepath.Join(b.dir, ".git/objects/pack/*"))
	must(t, err)
	for _, path := range left {
		if strings.HasSuffix(path, ".keep") || strings.Contains(path, stagePrefix) {
			t.Errorf("left behind: %s", path)
		}
	}
}

// What a dead landing left is removed by the next one, but not before it must be dead, and nothing of anybody else's.
func TestLandSweepsAfterDeadLandings(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	packs := filepath.Join(b.dir, ".git/objects/pack")
	old := time.Now().Add(-2 * stageMaxAge)
	for name, text := range map[string]string{"pack-1.keep": keepPrefix + "x\n", "pack-2.keep": "mine\n", "pack-3.keep": keepPrefix + "y\n"} {
		must(t, os.WriteFile(filepath.Join(packs, name), []byte(text), 0o644))
	}
	for _, name := range []string{stagePrefix + "dead", stagePrefix + "alive", "other"} {
		must(t, os.MkdirAll(filepath.Join(packs, name, "check"), 0o755))
	}
	for _, name := range []string{"pack-1.keep", "pack-2.keep", stagePrefix + "dead", "other"} {
		must(t, os.Chtimes(filepath.Join(packs, name), old, old))
	}
	b.land(t.Context(), t, "t", worked(t, b))
	var left []string
	for _, pattern := range []string{"*.keep", "*[a-z]"} {
		found, err := filepath.Glob(filepath.Join(packs, pattern))
		must(t, err)
		for _, path := range found {
			if name := filepath.Base(path); !strings.HasSuffix(name, ".pack") && !strings.HasSuffix(name, ".idx") && (pattern == "*.keep") == strings.HasSuffix(name, ".keep") {
				left = append(left, name)
			}
		}
	}
	wantEqual(t, "left", left, []string{"pack-2.keep", "pack-3.keep", "other", stagePrefix + "alive"})
}

// A landing whose runner died leaves nothing that gc may not touch. Its pack stays, as the user may have come to refer to
// what is in it.
func TestLandedClearsThePackOfADeadLanding(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	tree := worked(t, b)
	for _, made := range []bool{false, true} {
		l := b.landing(t, "dead", tree)
		id, err := b.objects.writeCommit(l)
		must(t, err)
		set := landingSet{repo: b.repo, storer: b.objects.storer(), seen: map[plumbing.Hash]bool{}}
		must(t, set.commit(t.Context(), id, 0))
		pack, err := set.newPack(id.String())
		must(t, err)
		must(t, set.fill(t.Context(), pack))
		must(t, pack.publish(t.Context()))
		if made {
			must(t, b.repo.createRef(t.Context(), l.Branch, id.String()))
		}
		landed, err := b.repo.Landed(id.String(), l.Branch)
		must(t, err)
		wantEqual(t, "landed", landed, made)
		left, err := os.ReadDir(filepath.Join(b.dir, ".git/objects/pack"))
		must(t, err)
		for _, e := range left {
			if end := filepath.Ext(e.Name()); end != ".idx" && end != ".pack" && end != ".rev" {
				t.Errorf("left behind: %s", e.Name())
			}
		}
		b.git(t, "cat-file", "-e", id.String())
		if !made {
			b.git(t, "gc", "-q", "--prune=now")
			if err := exec.CommandContext(t.Context(), "git", "-C", b.dir, "cat-file", "-e", id.String()).Run(); err == nil {
				t.Error("gc does not remove what nobody refers to")
			}
		}
	}
	b.git(t, "fsck", "--strict", "--full")
}
