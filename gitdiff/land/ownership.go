package land

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dirLike is the owner and the mode of new files, taken from a directory of the user's repository that git made. A runner that is
// root must not leave files behind that their owner cannot remove.
type dirLike struct {
	dir      string
	mode     os.FileMode // permission and set-group-id bits of a new directory
	uid, gid int
}

// likeDir takes a directory as the model.
func likeDir(dir string) (dirLike, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return dirLike{}, fmt.Errorf("stat %s: %w", dir, err)
	}
	as := dirLike{dir: dir, mode: os.FileMode(st.Mode & 0o777), uid: int(st.Uid), gid: int(st.Gid)}
	if st.Mode&unix.S_ISGID != 0 {
		as.mode |= os.ModeSetgid
	}
	return as, nil
}

// own gives an open file its mode and, as far as the caller may, its owner.
func (as dirLike) own(f *os.File, mode os.FileMode) error {
	if os.Geteuid() == 0 {
		if err := f.Chown(as.uid, as.gid); err != nil {
			return err
		}
	}
	return f.Chmod(mode)
}

// mkdir makes a directory below the model, and those between, where they are missing.
func (as dirLike) mkdir(dir string) error {
	if dir == as.dir {
		return nil
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := as.mkdir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(as.own(f, as.mode), f.Close())
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
