package attack

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// capable lists the files below dir that have capabilities.
func capable(dir string) (map[string]bool, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, syscall.ENAMETOOLONG) {
			return nil // deeper than any path can say
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

// onlyAMD64 skips scripts that make a system call by its number.
func onlyAMD64(Where) string {
	if runtime.GOARCH != "amd64" {
		return "the script knows the system calls of amd64 only"
	}
	return ""
}
