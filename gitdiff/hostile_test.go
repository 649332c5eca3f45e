package gitdiff_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/dirty"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/land"
)

// readAll does with a repository what happens before any clock of a run.
func readAll(t *testing.T, dir string) error {
	t.Helper()
	repo, err := gitdiff.Open(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, rev := range []string{"HEAD", "main", "packed", "v1", "HEAD~1"} {
		_, err := repo.Resolve(t.Context(), rev)
		errs = append(errs, err)
	}
	_, err = dirty.Read(t.Context(), repo)
	errs = append(errs, err, land.CheckRef(repo, land.BranchPrefix+"x"))
	return errors.Join(append(errs, repo.Close())...)
}

// A FIFO in the place of a file of the git directory is an error, or is passed over, and nobody waits for a writer.
func TestAFifoInAGitDirectoryIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, packed := range map[string]bool{
		"HEAD": false, "config": false, "packed-refs": true, "refs/heads/main": false, "index": false, "info/exclude": false, "commondir": false,
		"objects/info/alternates": false, "a loose object": false, "a pack": true, "an index of a pack": true, "config.worktree": false,
		"refs/heads/sandboxrun": false, "refs/heads/sandboxrun/x": false, "refs/tags/v1": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gitdifftest.Sample(t)
			r.Git("branch", "packed")
			r.Git("tag", "v1")
			if packed {
				r.Git("pack-refs", "--all")
				r.Git("gc", "-q")
			}
			path := filepath.Join(r.Dir, ".git", name)
			switch name {
			case "a loose object":
				head := r.Git("rev-parse", "HEAD")
				path = filepath.Join(r.Dir, ".git/objects", head[:2], head[2:])
			case "a pack", "an index of a pack":
				found, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/pack-*."+map[bool]string{true: "pack", false: "idx"}[name == "a pack"]))
				gitdifftest.Must(t, err)
				path = found[0]
			}
			gitdifftest.Must(t, os.RemoveAll(path))
			gitdifftest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			gitdifftest.Must(t, unix.Mkfifo(path, 0o644))
			done := make(chan error, 1)
			go func() { done <- readAll(t, r.Dir) }()
			select {
			case err := <-done:
				t.Log(err)
			case <-time.After(20 * time.Second):
				if w, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil { // lets the reader go
					gitdifftest.Must(t, w.Close())
				}
				t.Errorf("waits for a writer of %s", path)
			}
		})
	}
}

// A link in the place of a directory that a landing writes to keeps it from landing, and nothing is written behind it.
func TestALandingWritesToNothingButTheGitDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"refs/heads/sandboxrun", "refs/heads", "refs", "objects/pack", "objects"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := workbench.New(t, map[string]string{"a": "a\n"})
			b.Git(t, "pack-refs", "--all")
			b.Git(t, "update-ref", "refs/heads/sandboxrun/other", "HEAD")
			work := t.TempDir()
			gitdifftest.WriteFiles(t, work, map[string]string{"a": "changed\n"})
			env := []string{"GIT_DIR=" + filepath.Join(b.Dir, ".git"), "GIT_WORK_TREE=" + work, "GIT_INDEX_FILE=" + filepath.Join(work, "index"),
				"GIT_OBJECT_DIRECTORY=" + b.StoreObjects()}
			gitdifftest.Git(t, work, env, "add", "a")
			tree := gitdifftest.Git(t, work, env, "write-tree")
			outside := filepath.Join(t.TempDir(), "outside")
			gitdifftest.Must(t, os.Rename(filepath.Join(b.Dir, ".git", name), outside))
			gitdifftest.Must(t, os.Symlink(outside, filepath.Join(b.Dir, ".git", name)))
			before := gitdifftest.Fingerprint(t, outside)
			_, err := land.Land(t.Context(), b.Repo, b.Objects, land.Landing{
				Branch: land.BranchPrefix + "x", Parent: b.Head(t), Tree: tree, When: time.Unix(1_700_000_000, 0),
			})
			if err == nil {
				t.Error("it landed")
			}
			t.Log(err)
			gitdifftest.Equal(t, "files behind the link", gitdifftest.Fingerprint(t, outside), before)
		})
	}
}
