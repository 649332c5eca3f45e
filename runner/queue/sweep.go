package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandboxrun/internal/publish"
)

// keepRefused is how long a refused task is remembered, and maxRefused how many are.
const (
	keepRefused = 24 * time.Hour
	maxRefused  = 1000
)

// Sweep removes half-made entries, and refused ones that are old or too many. Entries whose run has begun are removed
// as well: their process died in between.
func (q Queue) Sweep(ctx context.Context, begun func(run string) (bool, error)) error {
	if _, err := os.Stat(q.dir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	queueLock, err := q.lockQueue(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = queueLock.Close() }() // nothing was written
	names, err := os.ReadDir(q.dir())
	for _, n := range names {
		half, ok := strings.CutPrefix(n.Name(), publish.HalfPrefix)
		if run, whole := strings.CutSuffix(half, ".json"); ok && whole {
			err = errors.Join(err, q.drop(run))
		} else if ok {
			err = errors.Join(err, os.Remove(filepath.Join(q.dir(), n.Name())))
		}
	}
	list, lerr := q.List()
	if err = errors.Join(err, lerr); err != nil {
		return fmt.Errorf("sweep queue: %w", err)
	}
	slices.Reverse(list)
	refused := 0
	for _, e := range list {
		var old bool
		if !e.Waits() {
			refused++
			old = refused > maxRefused || time.Since(e.RefusedAt) > keepRefused
		} else if old, err = begun(e.RunID); err != nil {
			return fmt.Errorf("sweep queue: %w", err)
		}
		if !old {
			continue
		}
		t, err := q.Take(e.RunID)
		if err != nil || t == nil {
			continue // somebody works on it
		}
		if err := errors.Join(t.Remove(), t.Close()); err != nil {
			return fmt.Errorf("sweep queue: %w", err)
		}
	}
	return nil
}
