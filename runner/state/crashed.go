package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// HasCrashed reports whether there is a run to settle. After orderly ends it costs reading one empty directory.
func (s *State) HasCrashed() (bool, error) {
	ids, err := s.Active()
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

// TakeDead locks every run whose runner died and that has no result yet. Only the holder of these locks may remove
// what belongs to the runs.
func (s *State) TakeDead() (dead []*RunDir, err error) {
	ids, err := s.Active()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		d, err := s.takeIfDead(id)
		if err != nil {
			return nil, errors.Join(err, UnlockAll(dead))
		}
		if d != nil {
			dead = append(dead, d)
		}
	}
	return dead, nil
}

// UnlockAll releases the locks of runs.
func UnlockAll(dirs []*RunDir) error {
	var err error
	for _, d := range dirs {
		err = errors.Join(err, d.Unlock())
	}
	return err
}

// takeIfDead locks one marked run; nil for a live one, and for one that has ended or been removed but is still marked.
func (s *State) takeIfDead(id string) (*RunDir, error) {
	d := &RunDir{state: s, id: id}
	lock, err := takeLock(d.Path("lock"))
	switch {
	case errors.Is(err, errLocked):
		return nil, nil // alive, or another settler holds it
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.unmarkUnborn(id)
	case err != nil:
		return nil, err
	}
	d.lock = lock
	if _, err := os.Stat(d.ResultPath()); err == nil {
		return nil, errors.Join(d.ClearHalves(), s.unmark(id), d.Unlock()) // died after its last write
	}
	return d, nil
}

// unmarkUnborn removes the marker of a run without a directory, unless the directory is just being made.
func (s *State) unmarkUnborn(id string) error {
	alone, err := s.creationLock(true)
	if errors.Is(err, errLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = alone.Close() }() // nothing was written
	if _, err := os.Stat(s.runDir(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.unmark(id)
}

// Sweep removes directories whose making or removal was cut short.
func (s *State) Sweep() error {
	alone, err := s.creationLock(true)
	if errors.Is(err, errLocked) {
		return nil // another time
	}
	if err != nil {
		return err
	}
	defer func() { _ = alone.Close() }() // nothing was written
	entries, err := os.ReadDir(s.runsDir())
	if err != nil {
		return fmt.Errorf("list remains of runs: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), newPrefix) && !strings.HasPrefix(e.Name(), gonePrefix) {
			continue
		}
		path := filepath.Join(s.runsDir(), e.Name())
		if held, err := locked(filepath.Join(path, "lock")); err != nil || held {
			continue // its remover holds its lock
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove remains of a run: %w", err)
		}
	}
	return nil
}

// halfAge is the age from which a replacement file counts as left by a dead writer.
const halfAge = 10 * time.Minute

// SweepFiles removes half-written replacement files of the state directory.
func (s *State) SweepFiles() error {
	var err error
	for _, pattern := range []string{"id.*", ".format*", filepath.Join("etc", ".new-*")} {
		halves, gerr := filepath.Glob(filepath.Join(escapeGlob(s.dir), pattern))
		err = errors.Join(err, gerr)
		for _, half := range halves {
			if fi, serr := os.Stat(half); serr == nil && time.Since(fi.ModTime()) > halfAge {
				err = errors.Join(err, os.Remove(half))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("sweep state directory: %w", err)
	}
	return nil
}

// Active lists the runs that have begun and not ended.
func (s *State) Active() ([]string, error) {
	ids, err := idsIn(s.activeDir())
	if err != nil {
		return nil, fmt.Errorf("list crashed runs: %w", err)
	}
	return ids, nil
}

// Strays lists the runs that have ended and still have throwaway trees, because the removal of a box could not be
// confirmed.
func (s *State) Strays() ([]string, error) {
	entries, err := os.ReadDir(s.workDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list stray trees: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if ValidRunID(e.Name()) && !s.Alive(s.Owner(e.Name())) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// answerPatience is how long an engine may take to carry out the request of a runner that died before the answer. An
// engine does not notice that death.
const answerPatience = 5 * time.Second

// Pending is how long the engine may still create something that dead runs requested and that was not removed.
func Pending(dead []*RunDir, removed []string) time.Duration {
	var longest time.Duration
	for _, d := range dead {
		record, err := d.Steps()
		if err != nil {
			continue // settling it reports the error
		}
		for name, asked := range record.asked {
			if !slices.Contains(removed, name) {
				longest = max(longest, asked+answerPatience-sinceBoot())
			}
		}
	}
	return min(longest, answerPatience)
}
