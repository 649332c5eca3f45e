package attack

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Fingerprint records of every file of a repository, its .git and its working tree, the mode, and of regular files and links time and
// digest. Objects and branches below sandboxrun/ are what a landing adds, so they are left out.
func Fingerprint(dir string) (map[string]string, error) {
	prints := map[string]string{}
	objects := filepath.Join(".git", "objects")
	if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
		objects = "objects" // no working tree
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, syscall.ENAMETOOLONG) {
			return nil // longer than any path may be
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if rel == objects || strings.HasSuffix(rel, "refs/heads/sandboxrun") {
			return fs.SkipDir
		}
		info, err := d.Info()
		if errors.Is(err, syscall.ENAMETOOLONG) {
			return nil
		}
		if err != nil {
			return err
		}
		prints[rel], err = print1(p, info)
		return err
	})
	return prints, err
}

// print1 describes one file.
func print1(p string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode().IsRegular():
		f, err := os.Open(p)
		if err != nil {
			return "", err
		}
		defer f.Close()
		h := sha256.New()
		_, err = io.Copy(h, io.LimitReader(f, 64<<20))
		return fmt.Sprintf("%v %d %d %x", info.Mode(), info.Size(), info.ModTime().UnixNano(), h.Sum(nil)), err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(p)
		return info.Mode().String() + " " + to, err
	}
	return info.Mode().String(), nil
}

// capable lists the files below dir that have capabilities.
func capable(dir string) (map[string]bool, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, syscall.ENAMETOOLONG) {
			return nil // longer than any path may be
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if n, err := unix.Lgetxattr(p, "security.capability", nil); err == nil && n > 0 {
			rel, err := filepath.Rel(dir, p)
			if err != nil {
				return err
			}
			found[rel] = true
		}
		return nil
	})
	return found, err
}
