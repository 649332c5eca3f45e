package gitdiff

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

	"sandboxrun/runner/step"
)

// Evict removes bases that nobody has used for maxAge, and then the least recently used ones until the others take no
// more than maxBytes on disk. Those in use are kept, whatever their age and size. It returns the bytes freed. Git
// objects of runs are not touched: a later turn may start from them.
func (s *Store) Evict(ctx context.Context, maxAge time.Duration, maxBytes int64) (int64, error) {
	old, err := s.bases()
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
		done := step.Begin(ctx, StepBaseEvict, b.dir)
		gone, err := b.evict()
		done(err)
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

// bases lists all bases, the least recently used first.
func (s *Store) bases() ([]idleBase, error) {
	locks, err := filepath.Glob(filepath.Join(globQuote(s.dir), "bases", "*", "*.lock"))
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

// evict removes a base unless somebody holds it, and reports whether it did.
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

// globQuote makes a path match only itself in a pattern.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
