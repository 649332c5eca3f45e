package gitdiff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// halfAge is how old a file that is being written must be to be of a dead writer.
const halfAge = time.Hour

// Sweep removes what died runners left half-made: bases nobody builds any more, and files nobody finishes. What somebody
// holds is left alone.
func (s *Store) Sweep() error {
	err := errors.Join(s.sweepBases(), s.sweepObjects())
	if err != nil {
		return fmt.Errorf("sweep store: %w", err)
	}
	return nil
}

func (s *Store) sweepBases() error {
	halves, err := filepath.Glob(filepath.Join(globQuote(s.dir), "bases", "*", "*.building"))
	for _, half := range halves {
		held, lerr := tryLock(strings.TrimSuffix(half, ".building") + ".lock")
		if held == nil || lerr != nil {
			err = errors.Join(err, lerr)
			continue
		}
		err = errors.Join(err, RemoveTree(half), held.unlock())
	}
	return err
}

func (s *Store) sweepObjects() error {
	var halves []string
	var err error
	for _, pattern := range []string{"objects/pack/tmp_*", ".HEAD*", ".config*", "objects/info/.alternates*"} {
		found, gerr := filepath.Glob(filepath.Join(globQuote(s.dir), "stores", "*.git", pattern))
		halves, err = append(halves, found...), errors.Join(err, gerr)
	}
	for _, half := range halves {
		info, serr := os.Lstat(half)
		if serr != nil || time.Since(info.ModTime()) < halfAge {
			continue
		}
		if rerr := os.Remove(half); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
