package gitdifftest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Fingerprint describes every file below dir: mode, size, modification time, and a digest of the content or a link's
// text. Two equal fingerprints, compared as maps, mean that nothing was written in between.
func Fingerprint(t testing.TB, dir string) map[string]string {
	t.Helper()
	prints := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		switch {
		case info.Mode().IsRegular():
			content, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(path)
			content = []byte(target)
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		prints[rel] = fmt.Sprintf("%v %d %d %x", info.Mode(), info.Size(), info.ModTime().UnixNano(), sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return prints
}
