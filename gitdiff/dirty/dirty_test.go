package dirty

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/workspace"
)

// age makes the files of a repository older than its index, as they are after a minute's work.
func age(t *testing.T, r *gitdifftest.Repository) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	for path := range strings.SplitSeq(r.Git("ls-files", "-z"), "\x00") {
		if path == "" {
			continue
		}
		ts := unix.NsecToTimespec(old.UnixNano())
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(r.Dir, path), []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	r.Git("update-index", "-q", "--refresh")
}

func mustDirty(t *testing.T, r *gitdifftest.Repository) State {
	t.Helper()
	d, err := Read(context.Background(), workbench.Open(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDirtyOfAFreshCheckoutIsClean(t *testing.T) {
	t.Parallel()
	sample := gitdifftest.Sample(t)
	sparse := gitdifftest.Sample(t)
	sparse.Git("sparse-checkout", "set", "--no-cone", "/src/deep/")
	v4 := gitdifftest.Sample(t)
	v4.Git("update-index", "--index-version=4")
	for name, r := range map[string]*gitdifftest.Repository{
		"ordinary": sample, "linked": sample.Worktree("side"), "bare": sample.Bare(), "empty": gitdifftest.New(t), "sparse": sparse, "v4": v4,
		"submodule": gitdifftest.Sample(t).WithSubmodule("lib", sample),
	} {
		if name == "linked" {
			age(t, r) // git converted a file as it checked it out, which shows until its time can be trusted
		}
		if d := mustDirty(t, r); !d.Clean() {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestDirtyCountsEveryKindOfChange(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Write(".git/info/exclude", "hidden-by-exclude\n")
	excludes := filepath.Join(t.TempDir(), "excludes")
	if err := os.WriteFile(excludes, []byte("*.env\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.Git("config", "core.excludesFile", excludes)
	r.Write(".gitignore", "ignored/\n*.log\n!keep.log\n")
	r.Commit("ignore")
	age(t, r)
	if d := mustDirty(t, r); !d.Clean() {
		t.Fatalf("before: %+v", d)
	}
	r.Write("src/main.go", "package main\n\nfunc mail() {}\n") // the same size
	r.Git("rm", "--quiet", "--cached", "empty")
	r.Write("staged", "staged\n")
	r.Git("add", "staged")
	for _, path := range []string{"README.md", "link"} {
		if err := os.Remove(filepath.Join(r.Dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(r.Dir, "src/tool.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"new", "ignored/x", "a.log", "keep.log", "hidden-by-exclude", "secret.env", "src/deep/new"} {
		r.Write(path, "new\n")
	}
	gitdifftest.Init(t, filepath.Join(r.Dir, "nested"))
	if err := unix.Mkfifo(filepath.Join(r.Dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := State{Staged: 2, Modified: 2, Deleted: 2, Untracked: 5,
		Names: []string{"README.md", "empty", "keep.log", "link", "nested/", "new", "src/deep/new", "src/main.go", "src/tool.sh", "staged"}}
	if diff := cmp.Diff(want, mustDirty(t, r)); diff != "" {
		t.Errorf("(-want +got)\n%s\ngit says:\n%s", diff, r.Git("status", "--porcelain"))
	}
}

func TestDirtySaysWhyItCannotTell(t *testing.T) {
	t.Parallel()
	split := gitdifftest.Sample(t)
	split.Git("update-index", "--split-index")
	broken := gitdifftest.Sample(t)
	broken.Write(".git/index", "not an index")
	for name, r := range map[string]*gitdifftest.Repository{"split": split, "broken": broken} {
		if d := mustDirty(t, r); d.Unknown == "" || d.Clean() {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestDirtyCommitHoldsTheWorkTree(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t).WithSubmodule("lib", gitdifftest.Sample(t))
	r.Write(".gitignore", "*.log\n")
	r.Commit("ignore")
	age(t, r)
	repo := workbench.Open(t, r)
	o := workbench.Objects(t, repo)
	head := workbench.Resolve(t, repo, "HEAD")
	clean, err := Commit(context.Background(), o, repo, head)
	if err != nil || clean != head {
		t.Fatalf("clean: got %+v, %v", clean, err)
	}
	r.Write("src/main.go", "package changed\n")
	r.Write("new/deep/file", "new\n")
	r.Write("large", strings.Repeat("large\n", 400_000))
	r.Write("x.log", "ignored\n")
	r.Write("staged", "first\n")
	r.Git("add", "staged")
	r.Write("staged", "second\n")
	r.Git("rm", "--quiet", "README.md")
	if err := os.Remove(filepath.Join(r.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	r.Link("link", "new")
	before := gitdifftest.Fingerprint(t, r.Dir)
	got, err := Commit(context.Background(), o, repo, head)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, gitdifftest.Fingerprint(t, r.Dir)); diff != "" {
		t.Errorf("the repository changed:\n%s", diff)
	}
	again, err := Commit(context.Background(), o, repo, head)
	if err != nil || again != got {
		t.Errorf("second time: got %+v, %v, want %+v", again, err, got)
	}
	w, err := workspace.New(t.Context(), o, workspace.Spec{
		Dir: filepath.Join(t.TempDir(), "workspace"), Layout: workspace.LayoutOverlay, Base: got, UID: os.Getuid(), GID: os.Getgid(),
	})
	if err != nil {
		t.Fatal(err)
	}
	workbench.CloseLater(t, w)
	r.Git("add", "--all")
	want := gitdifftest.TreeFiles(t, r, r.Git("write-tree"))
	if diff := cmp.Diff(want, gitdifftest.DiskFiles(t, w.Mount().Lower[0], os.Getuid(), os.Getgid())); diff != "" {
		t.Errorf("(-git +workspace)\n%s", diff)
	}
	store := gitdifftest.At(t, filepath.Join(o.Store().Dir(), "stores", o.Key()+".git"))
	store.Git("fsck", "--strict", "--no-dangling", got.ID)
	if parent := store.Git("rev-parse", got.ID+"^"); parent != head.ID {
		t.Errorf("parent %s, want %s", parent, head.ID)
	}
}
