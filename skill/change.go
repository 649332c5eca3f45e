package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// change replaces several files so that either all are new or all are as before.
type change struct {
	root *os.Root
	made []string // directories that were not there
	next []staged
}

// staged is a new file beside its place.
type staged struct {
	path, temporary, before string // before is where the old file is kept, "" for none
	done                    bool
}

// stage writes a file beside its place. Most of what can go wrong goes wrong here.
func (c *change) stage(f File) error {
	if err := c.mkdir(path.Dir(f.Path)); err != nil {
		return err
	}
	s := staged{path: f.Path, temporary: f.Path + ".sandboxrun-new"}
	_ = c.root.Remove(s.temporary) // of an installation that died
	out, err := c.root.OpenFile(s.temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	c.next = append(c.next, s)
	_, err = out.Write(f.Data)
	return errors.Join(err, out.Sync(), out.Close())
}

func (c *change) mkdir(dir string) error {
	if _, err := c.root.Stat(dir); err == nil || dir == "." {
		return nil
	}
	if err := c.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	err := c.root.Mkdir(dir, 0o755)
	if err == nil {
		c.made = append(c.made, dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// commit gives every file its name.
func (c *change) commit() error {
	for i := range c.next {
		s := &c.next[i]
		if _, err := c.root.Lstat(s.path); err == nil {
			s.before = s.path + ".sandboxrun-old"
			if err := c.root.Rename(s.path, s.before); err != nil {
				s.before = ""
				return err
			}
		}
		if err := c.root.Rename(s.temporary, s.path); err != nil {
			return err
		}
		s.done = true
	}
	done := c.next
	c.next, c.made = nil, nil // from here on there is nothing to undo
	for _, s := range done {
		if s.before != "" {
			if err := c.root.RemoveAll(s.before); err != nil {
				return fmt.Errorf("the new files are complete; remove %s: %w", s.before, err)
			}
		}
	}
	return nil
}

// undo brings everything back.
func (c *change) undo() error {
	var errs []error
	for _, s := range slices.Backward(c.next) {
		if s.done {
			errs = append(errs, c.root.Remove(s.path))
		} else {
			errs = append(errs, c.root.Remove(s.temporary))
		}
		if s.before != "" {
			errs = append(errs, c.root.Rename(s.before, s.path))
		}
	}
	for _, dir := range slices.Backward(c.made) {
		errs = append(errs, c.root.Remove(dir))
	}
	return errors.Join(errs...)
}
