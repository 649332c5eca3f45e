package capture

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/internal/testenv"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// layers is one real overlay mount as an engine makes it for a box.
type layers struct{ upper, merged string }

func mountOverlay(t testing.TB, dir, lower string, marks Marks) layers {
	t.Helper()
	l := layers{filepath.Join(dir, "upper"), filepath.Join(dir, "merged")}
	work := filepath.Join(dir, "work")
	for _, d := range []string{l.upper, l.merged, work} {
		gitdifftest.Must(t, os.MkdirAll(d, 0o755))
	}
	options := "userxattr"
	if marks == TrustedMarks {
		options = "redirect_dir=on,index=off,metacopy=off"
		tag(t, l.upper)
	}
	err := unix.Mount("overlay", l.merged, "overlay", 0, options+",lowerdir="+lower+",upperdir="+l.upper+",workdir="+work)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENODEV) {
		t.Skipf("overlay with %s cannot be mounted here: %v", options, err)
	}
	gitdifftest.Must(t, err)
	return l
}

// tag makes a directory the root of an upper layer with trusted marks.
func tag(t testing.TB, dir string) {
	t.Helper()
	if err := unix.Setxattr(dir, Tag, []byte("y"), 0); errors.Is(err, unix.EPERM) {
		t.Skip("only root can set trusted attributes")
	} else {
		gitdifftest.Must(t, err)
	}
}

// edit is one step a box may take on its tree.
type edit struct {
	What     string
	Path, To string
	Text     string
}

// apply does an edit below dir. Whether it is possible depends on the tree alone, so a failure is the same in every layout.
// Without directories, those are not renamed: an overlay with user marks refuses that.
func (e edit) apply(dir string, directories bool) bool {
	path, to := filepath.Join(dir, e.Path), filepath.Join(dir, e.To)
	var err error
	switch e.What {
	case "write":
		err = os.WriteFile(path, []byte(e.Text), 0o644)
	case "mkdir":
		err = os.MkdirAll(path, 0o755)
	case "remove":
		err = os.RemoveAll(path)
	case "rename":
		if info, err := os.Lstat(path); err != nil || info.IsDir() && !directories {
			return false
		}
		err = os.Rename(path, to)
	case "exchange":
		a, aerr := os.Lstat(path)
		b, berr := os.Lstat(to)
		if aerr != nil || berr != nil || (a.IsDir() || b.IsDir()) && !directories {
			return false
		}
		err = unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
	case "link":
		err = os.Symlink(e.Text, path)
	case "hardlink":
		err = os.Link(path, to)
	case "chmod":
		err = os.Chmod(path, 0o755)
	case "touch": // copies up without a change
		err = os.Chmod(path, 0o700)
	case "replace":
		if err = os.RemoveAll(path); err == nil {
			err = os.MkdirAll(path, 0o755)
		}
	}
	return err == nil
}

func edits() *rapid.Generator[[]edit] {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d e"})
	path := rapid.Custom(func(t *rapid.T) string {
		p := name.Draw(t, "1")
		for range rapid.IntRange(0, 2).Draw(t, "depth") {
			p += "/" + name.Draw(t, "n")
		}
		return p
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) edit {
		return edit{
			What: rapid.SampledFrom([]string{
				"write", "write", "write", "mkdir", "remove", "rename", "rename", "rename", "rename", "exchange", "link", "hardlink", "chmod", "touch", "replace",
			}).Draw(t, "what"),
			Path: path.Draw(t, "path"),
			To:   path.Draw(t, "to"),
			Text: rapid.SampledFrom([]string{"", "1", "2\n", "a/b", "long line\nlonger line\n"}).Draw(t, "text"),
		}
	}), 1, 12)
}

var propertyBase = map[string]string{
	".gitignore": "/d e\n*/a/c\n", "a/a/a": "1\n", "a/a/b": "2\n", "a/b": "3\n", "b/a/c": "4\n", "b/b/b": "5\n", "c": "6\n", "d e/a": "7\n", "d e/b": "-> a",
}

// Both layouts give the tree that git itself writes for the same files, but for what the base's rules ignore at a new place. Of that
// they say the same.
func TestCaptureOfBothLayoutsIsTheTreeGitWrites(t *testing.T) {
	t.Parallel()
	for _, marks := range []Marks{UserMarks, TrustedMarks} {
		for _, ignoring := range []bool{false, true} {
			t.Run(fmt.Sprintf("%signoring %t", marks, ignoring), func(t *testing.T) {
				t.Parallel()
				if ignoring {
					testenv.NeedsAll(t, "the cases of TestCaptureFollowsMovedDirectories have ignored names, too")
				}
				bothLayouts(t, marks, ignoring)
			})
		}
	}
}

func bothLayouts(t *testing.T, marks Marks, ignoring bool) {
	t.Helper()
	files := maps.Clone(propertyBase)
	if !ignoring {
		files[".gitignore"] = "none\n"
	}
	b := workbench.New(t, files)
	lower := b.Box(t)
	gitdifftest.Must(t, unix.Unmount(mountOverlay(t, t.TempDir(), lower, marks).merged, unix.MNT_DETACH)) // skips where mounts are impossible
	scratch, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(scratch, fmt.Sprint(n))
		l := mountOverlay(t, dir, lower, marks)
		mounted := true
		defer func() {
			if mounted {
				gitdifftest.Must(t, unix.Unmount(l.merged, unix.MNT_DETACH))
			}
			gitdifftest.Must(t, os.RemoveAll(dir))
		}()
		plain := filepath.Join(dir, "plain")
		gitdifftest.Must(t, os.Mkdir(plain, 0o755))
		b.Git(t, "--work-tree="+plain, "checkout", "-q", "-f", "HEAD", "--", ".")
		for _, e := range edits().Draw(rt, "edits") {
			if over, flat := e.apply(l.merged, marks == TrustedMarks), e.apply(plain, marks == TrustedMarks); over != flat {
				rt.Fatalf("%+v: %v in the overlay, %v in the copy", e, over, flat)
			}
		}
		gitdifftest.Must(t, unix.Unmount(l.merged, unix.MNT_DETACH)) // another test may be forking and hold its files for a moment
		mounted = false

		env := []string{"GIT_DIR=" + filepath.Join(b.Dir, ".git"), "GIT_WORK_TREE=" + plain, "GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
		gitdifftest.Git(t, plain, env, "add", "-A", "-f")
		want := gitdifftest.Git(t, plain, env, "write-tree")
		flat := captured(t, b, plain)
		if ignoring {
			want = flat.Tree
		} else if flat.Tree != want {
			rt.Errorf("copy: tree %s, git has %s: %s", flat.Tree, want, treeDiff(t, b, want, flat.Tree))
		}
		src := sourceOf(t, b, l.upper)
		src.Marks = marks
		s, err := Capture(t.Context(), src)
		gitdifftest.Must(t, err)
		if s.Tree != want {
			rt.Errorf("overlay: tree %s, wanted %s: %s", s.Tree, want, treeDiff(t, b, want, s.Tree))
		}
		if over, want := slices.Sorted(slices.Values(found(s))), slices.Sorted(slices.Values(found(flat))); !slices.Equal(over, want) {
			rt.Errorf("overlay: found %q, in a plain directory %q", over, want)
		}
	})
}

// What the layer does not hold is not read, however large the base is: a base whose blobs are gone can still be captured.
func TestCaptureOfAnOverlayReadsOnlyWhatTheLayerHolds(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a/b/c": "1\n", "a/b/d": "2\n", "e/f/g/h": "3\n", "e/i": "4\n"})
	upper := t.TempDir()
	gitdifftest.WriteFiles(t, upper, map[string]string{"a/b/new": "n\n"})
	gitdifftest.Must(t, os.MkdirAll(filepath.Join(upper, "e"), 0o755)) // copied up, nothing in it
	gone := b.Git(t, "rev-parse", "HEAD:a/b/c", "HEAD:e/i", "HEAD:e/f", "HEAD:e/f/g")
	for id := range strings.FieldsSeq(gone) {
		gitdifftest.Must(t, os.Remove(filepath.Join(b.Dir, ".git/objects", id[:2], id[2:])))
	}
	src := sourceOf(t, b, upper)
	src.Marks = UserMarks
	s, err := Capture(t.Context(), src)
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "entries looked at", s.Files, 4)
	gitdifftest.Equal(t, "changes", treeDiff(t, b, b.Head(t).Tree, s.Tree), "added a/b/new; ")
}

func TestCaptureOfOverlayMarks(t *testing.T) {
	t.Parallel()
	for _, marks := range []Marks{UserMarks, TrustedMarks} {
		t.Run(string(marks), func(t *testing.T) {
			t.Parallel()
			b := workbench.New(t, map[string]string{"gone": "1\n", "d/old": "2\n", "e/kept": "3\n", "e/white": "4\n", "f/kept": "5\n"})
			upper := t.TempDir()
			if err := unix.Mknod(filepath.Join(upper, "gone"), unix.S_IFCHR, 0); errors.Is(err, unix.EPERM) {
				t.Skip("character devices cannot be made here")
			}
			gitdifftest.WriteFiles(t, upper, map[string]string{"d/new": "n\n", "e/white": "", "f/new": "n\n", "empty": ""})
			if marks == TrustedMarks {
				tag(t, upper)
				// The box's own attributes: no marks.
				for path, mark := range map[string]string{"f": UserMarks.Opaque(), "empty": UserMarks.whiteout(), "e": UserMarks.redirect()} {
					gitdifftest.Must(t, unix.Setxattr(filepath.Join(upper, path), mark, []byte("y"), 0))
				}
			}
			for path, mark := range map[string][2]string{
				"d": {marks.Opaque(), "y"}, "e": {marks.Opaque(), "x"}, "e/white": {marks.whiteout(), ""},
			} {
				gitdifftest.Must(t, unix.Setxattr(filepath.Join(upper, path), mark[0], []byte(mark[1]), 0))
			}
			src := sourceOf(t, b, upper)
			src.Marks = marks
			s, err := Capture(t.Context(), src)
			gitdifftest.Must(t, err)
			gitdifftest.Equal(t, "changes", treeDiff(t, b, b.Head(t).Tree, s.Tree),
				"added d/new; deleted d/old; deleted e/white; added empty; added f/new; deleted gone; ")
			if marks == TrustedMarks {
				gitdifftest.Must(t, unix.Removexattr(upper, Tag))
				if _, err := Capture(t.Context(), src); !errors.Is(err, unix.EPERM) {
					t.Errorf("without the tag: %v", err)
				}
			}
		})
	}
	b := workbench.New(t, map[string]string{"f": "1\n"})
	src := sourceOf(t, b, b.Box(t))
	src.Marks = "security."
	if _, err := Capture(t.Context(), src); err == nil {
		t.Error("unknown marks were taken")
	}
}
