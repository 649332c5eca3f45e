package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// HasCrashed says whether there is a run to settle. After orderly ends it costs
// one look at an empty directory.
func (s *State) HasCrashed() (bool, error) {
	ids, err := s.active()
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		held, err := locked(filepath.Join(s.runDir(id), "lock"))
		if err != nil {
			return false, err
		}
		if !held {
			return true, nil
		}
	}
	return false, nil
}

// Crashed calls settle with every run whose runner died, locked against other
// settlers. settle ends the run with Finish; a run it does not end is still
// crashed afterwards. An error of settle ends the walk.
func (s *State) Crashed(settle func(*RunDir) error) error {
	ids, err := s.active()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.settleOne(id, settle); err != nil {
			return err
		}
	}
	return s.sweep()
}

// sweepAge is how old the remains of a directory are when no process can still
// be between two steps of making or removing it.
const sweepAge = 10 * time.Minute

// sweep removes directories whose making or removal was cut short.
func (s *State) sweep() error {
	entries, err := os.ReadDir(s.runsDir())
	if err != nil {
		return fmt.Errorf("look for remains of runs: %w", err)
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), ".") || time.Since(fi.ModTime()) < sweepAge {
			continue
		}
		path := filepath.Join(s.runsDir(), e.Name())
		if held, err := locked(filepath.Join(path, "lock")); err != nil || held {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove remains of a run: %w", err)
		}
	}
	return nil
}

func (s *State) settleOne(id string, settle func(*RunDir) error) error {
	d := &RunDir{state: s, id: id}
	lock, err := takeLock(d.path("lock"))
	switch {
	case errors.Is(err, errLocked):
		return nil // alive, or another settler is at it
	case errors.Is(err, fs.ErrNotExist):
		return s.unmark(id) // nothing of it is left
	case err != nil:
		return err
	}
	d.lock = lock
	if _, err := os.Stat(d.ResultPath()); err == nil {
		return errors.Join(s.unmark(id), d.unlock()) // died after its last write
	}
	return errors.Join(settle(d), d.unlock())
}

// unmark removes the marker of a run that needs no settling.
func (s *State) unmark(id string) error {
	if err := os.Remove(s.marker(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unmark run: %w", err)
	}
	return nil
}

// active lists the runs that have begun and not ended.
func (s *State) active() ([]string, error) {
	ids, err := idsIn(s.activeDir())
	if err != nil {
		return nil, fmt.Errorf("look for crashed runs: %w", err)
	}
	return ids, nil
}
