package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/quota"
)

// The kernel keeps things of its own in an overlay's work directory, owned by root, and leaves one whiteout behind when
// a file was deleted. A runner that is not root can neither read nor remove it, but the next mount clears it.
// So such a directory is kept for the next workspace; there are never more than there were workspaces at a time.

// workDirs is where work directories wait for their next use.
func workDirs(s *gitdiff.Store) string { return filepath.Join(s.Dir(), "workdirs") }

// takeWorkDir puts a work directory at path: one that waits, or a new one.
func takeWorkDir(s *gitdiff.Store, path string, own owner) error {
	waiting, err := os.ReadDir(workDirs(s))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range waiting {
		err := os.Rename(filepath.Join(workDirs(s), e.Name()), path)
		// Another runner took it, or the file system does not let it enter a tree with a quota.
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.EXDEV) {
			return err
		}
	}
	return privateDir(path, own)
}

// Remove removes a directory that holds a workspace, or several, whole or as a crash left them. No box may
// still use one. That dir does not exist is no error.
func Remove(s *gitdiff.Store, dir string) error {
	if err := endQuotas(dir); err != nil {
		return err
	}
	err := RemoveTree(dir)
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		return err
	}
	if err := keepWorkDirs(s, dir); err != nil {
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

func keepWorkDirs(s *gitdiff.Store, dir string) error {
	if err := os.MkdirAll(workDirs(s), 0o700); err != nil {
		return err
	}
	for _, pattern := range []string{"work", filepath.Join("*", "work")} {
		found, err := filepath.Glob(filepath.Join(gitfile.QuoteGlob(dir), pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.Rename(path, filepath.Join(workDirs(s), ulid.Make().String())); err != nil {
				return err
			}
		}
	}
	return nil
}
