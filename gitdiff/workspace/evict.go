package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/internal/step"
)

// Evict removes bases that nobody has used for maxAge, and then the least recently used ones until the others take no
// more than maxBytes on disk. Those in use are kept, whatever their age and size. It returns the bytes freed. Git
// objects of runs are not touched: a later turn may start from them.
func Evict(ctx context.Context, s *gitdiff.Store, maxAge time.Duration, maxBytes int64) (int64, error) {
	old, err := idleBases(s)
	if err != nil {
		return 0, fmt.Errorf("evict bases: %w", err)
	}
	var total, freed int64
	for _, b := range old {
		total += b.bytes
	}
	limit := time.Now().Add(-maxAge)
	for _, b := range old {
		if err := context.Cause(ctx); err != nil {
			return freed, fmt.Errorf("evict bases: %w", err)
		}
		if b.used.After(limit) && total <= maxBytes {
			break // the rest is younger still
		}
		step.Before(StepBaseEvict)
		gone, err := b.evict()
		step.After(StepBaseEvict)
		if err != nil {
			return freed, fmt.Errorf("evict %s: %w", b.dir, err)
		}
		if gone {
			freed += b.bytes
			total -= b.bytes
		}
	}
	return freed, nil
}

// idleBase is a base as seen by eviction, whether finished or not.
type idleBase struct {
	dir   string
	used  time.Time
	bytes int64
}

// idleBases lists all bases, the least recently used first.
func idleBases(s *gitdiff.Store) ([]idleBase, error) {
	locks, err := filepath.Glob(filepath.Join(gitfile.QuoteGlob(s.Dir()), "bases", "*", "*.lock"))
	if err != nil {
		return nil, err
	}
	var all []idleBase
	for _, lock := range locks {
		info, err := os.Stat(lock)
		if errors.Is(err, os.ErrNotExist) {
			continue // another runner evicts at the same time
		}
		if err != nil {
			return nil, err
		}
		b := idleBase{dir: strings.TrimSuffix(lock, ".lock"), used: info.ModTime()}
		var meta baseInfo
		if text, err := os.ReadFile(filepath.Join(b.dir, "base.json")); err == nil && json.Unmarshal(text, &meta) == nil {
			b.bytes = meta.Bytes
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b idleBase) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.dir, b.dir)) })
	return all, nil
}

// evict removes a base unless its lock is held, and reports whether it did.
func (b idleBase) evict() (gone bool, err error) {
	held, err := tryLock(b.dir + ".lock")
	if held == nil || err != nil {
		return false, err
	}
	// First what makes it a base: a runner that dies here leaves something that is made anew.
	err = os.Remove(filepath.Join(b.dir, "base.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, errors.Join(err, held.unlock())
	}
	for _, dir := range []string{b.dir, b.dir + ".building"} {
		if err := RemoveTree(dir); err != nil {
			return false, errors.Join(err, held.unlock())
		}
	}
	return true, held.remove()
}

// Sweep removes bases that runners left half-built when they died. A base whose lock is held is left alone.
func Sweep(s *gitdiff.Store) error {
	if err := sweepBases(s); err != nil {
		return fmt.Errorf("sweep bases: %w", err)
	}
	return nil
}

func sweepBases(s *gitdiff.Store) error {
	halves, err := filepath.Glob(filepath.Join(gitfile.QuoteGlob(s.Dir()), "bases", "*", "*.building"))
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
