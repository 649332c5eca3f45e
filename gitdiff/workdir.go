package gitdiff

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff/quota"
)

// The kernel keeps things of its own in an overlay's work directory, owned by root, and leaves one whiteout behind when
// a file was deleted. A runner that is not root can neither look into it nor remove it, but the next mount clears it.
// So such a directory is kept for the next workspace; there are never more than there were workspaces at a time.

// workDirs is where work directories wait for their next use.
func (s *Store) workDirs() string { return filepath.Join(s.dir, "workdirs") }

// takeWorkDir puts a work directory at path: one that waits, or a new one.
func (s *Store) takeWorkDir(path string, own owner) error {
	waiting, err := os.ReadDir(s.workDirs())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range waiting {
		err := os.Rename(filepath.Join(s.workDirs(), e.Name()), path)
		// Another runner was faster, or the file system keeps it from entering a tree with a quota.
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.EXDEV) {
			return err
		}
	}
	return privateDir(path, own)
}

// RemoveWorkspaces removes a directory that holds a workspace, or several, whole or as a crash left them. No box may
// still use one. That dir does not exist is no error.
func (s *Store) RemoveWorkspaces(dir string) error {
	if err := endQuotas(dir); err != nil {
		return err
	}
	err := RemoveTree(dir)
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		return err
	}
	if err := s.keepWorkDirs(dir); err != nil {
		return fmt.Errorf("keep work directories of %s: %w", dir, err)
	}
	return RemoveTree(dir)
}

// endQuotas lifts the bounds of the workspace that dir is, or of those it holds. What is in a workspace belongs to the
// box and is not asked.
func endQuotas(dir string) error {
	if ended, err := quota.End(dir); ended || err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		_, qerr := quota.End(filepath.Join(dir, e.Name()))
		err = errors.Join(err, qerr)
	}
	return err
}

func (s *Store) keepWorkDirs(dir string) error {
	if err := os.MkdirAll(s.workDirs(), 0o700); err != nil {
		return err
	}
	for _, pattern := range []string{"work", filepath.Join("*", "work")} {
		found, err := filepath.Glob(filepath.Join(globQuote(dir), pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.Rename(path, filepath.Join(s.workDirs(), ulid.Make().String())); err != nil {
				return err
			}
		}
	}
	return nil
}
