package gitdifftest

import (
	"crypto/sha1"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TreeFiles lists a tree as git does: path to mode and blob id.
func TreeFiles(t testing.TB, r *Repository, tree string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(r.Git("ls-tree", "-r", "-z", tree), "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		meta, path, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if fields[0] == "160000" {
			fields[2] = "empty directory"
		}
		files[path] = fields[0] + " " + fields[2]
	}
	return files
}

// DiskFiles lists a directory in the same form by reading the files only; an empty directory counts as a submodule. It
// fails the test for a file with another owner, and for one that shares its inode.
func DiskFiles(t testing.TB, root string, uid, gid int) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return fmt.Errorf("%s: no owner", path)
		}
		if int(st.Uid) != uid || int(st.Gid) != gid {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		if !d.IsDir() && st.Nlink != 1 {
			t.Errorf("%s has %d links", path, st.Nlink)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 || path == root {
				return err
			}
			files[rel] = "160000 empty directory"
		case info.Mode()&fs.ModeSymlink != 0:
			text, err := os.Readlink(path)
			files[rel] = "120000 " + BlobID([]byte(text))
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			mode := map[fs.FileMode]string{0o644: "100644", 0o755: "100755"}[info.Mode().Perm()]
			files[rel] = mode + " " + BlobID(content)
			return err
		default:
			files[rel] = info.Mode().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// BlobID is the id of content as a blob.
func BlobID(content []byte) string {
	return fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...)))
}

// Git runs git in dir with a clean environment and env, and returns its trimmed output. A failure ends the test.
func Git(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@localhost",
	}, env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// WriteFiles makes files below dir: path to content, or to "-> target" for a link.
func WriteFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, link := strings.CutPrefix(text, "-> "); err == nil && link {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Must ends the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal compares what a test got with what it wants.
func Equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
