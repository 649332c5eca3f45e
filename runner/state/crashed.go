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

// HasCrashed says whether there is a run to settle. After orderly ends it costs
// one look at an empty directory.
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

// Crashed calls settle with every run whose runner died, locked against other
// settlers. settle ends the run with Finish; a run it does not end is still
// crashed afterwards. An error of settle ends the walk.
func (s *State) Crashed(settle func(*RunDir) error) error {
	dead, err := s.TakeDead()
	for _, d := range dead {
		if err == nil {
			err = settle(d)
		}
	}
	return errors.Join(err, UnlockAll(dead), s.Sweep(), s.SweepFiles())
}

// TakeDead locks every run whose runner died and that has no result yet. While
// they are locked, they are nobody else's: what belongs to them may go.
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

// takeIfDead locks one marked run; nil for one that lives, or that is ended or
// gone and was marked still.
func (s *State) takeIfDead(id string) (*RunDir, error) {
	d := &RunDir{state: s, id: id}
	lock, err := takeLock(d.Path("lock"))
	switch {
	case errors.Is(err, errLocked):
		return nil, nil // alive, or another settler is at it
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

// unmarkUnborn removes the marker of a run that has no directory, unless it is
// just about to get one.
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

// unmark removes the marker of a run that needs no settling.
func (s *State) unmark(id string) error {
	if err := os.Remove(s.marker(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unmark run: %w", err)
	}
	return nil
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
		return fmt.Errorf("look for remains of runs: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), newPrefix) && !strings.HasPrefix(e.Name(), gonePrefix) {
			continue
		}
		path := filepath.Join(s.runsDir(), e.Name())
		if held, err := locked(filepath.Join(path, "lock")); err != nil || held {
			continue // who removes it holds its lock
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove remains of a run: %w", err)
		}
	}
	return nil
}

// halfAge is how old a file that replaces another must be to be of a dead writer.
const halfAge = 10 * time.Minute

// SweepFiles removes files of the state directory that were to replace others.
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
		return nil, fmt.Errorf("look for crashed runs: %w", err)
	}
	return ids, nil
}

// Strays lists the runs that have ended and still have throwaway trees, because
// a box could not be confirmed as gone at the time.
func (s *State) Strays() ([]string, error) {
	entries, err := os.ReadDir(s.workDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for stray trees: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if validRunID(e.Name()) && !s.Alive(s.Owner(e.Name())) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// answerPatience is how long an engine may take to do what a runner asked for
// that died before the answer came. An engine does not notice that.
const answerPatience = 5 * time.Second

// Pending is how long something may still come into being that dead runs asked
// for and that was not removed.
func Pending(dead []*RunDir, removed []string) time.Duration {
	var longest time.Duration
	for _, d := range dead {
		record, err := d.Steps()
		if err != nil {
			continue // settling it will say so
		}
		for name, asked := range record.asked {
			if !slices.Contains(removed, name) {
				longest = max(longest, asked+answerPatience-sinceBoot())
			}
		}
	}
	return min(longest, answerPatience)
}
