package gitdiff

import (
	"crypto/sha1"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
)

// gitFiles lists a tree as git does: path to mode and blob id.
func gitFiles(t testing.TB, r *gitdifftest.Repository, tree string) map[string]string {
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

// diskFiles lists a directory in the same form from nothing but its bytes; an empty directory counts as a submodule.
// It fails the test for a file with another owner than the box's, and for one that shares its inode.
func diskFiles(t testing.TB, root string) map[string]string {
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
		st := info.Sys().(*syscall.Stat_t)
		if own := testBox(); int(st.Uid) != own.uid || int(st.Gid) != own.gid {
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
			files[rel] = "120000 " + blobID([]byte(text))
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			mode := map[fs.FileMode]string{0o644: "100644", 0o755: "100755"}[info.Mode().Perm()]
			files[rel] = mode + " " + blobID(content)
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

func blobID(content []byte) string {
	return fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...)))
}
