package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"

	"github.com/gofrs/flock"
)

// A run holds one slot of its state directory for as long as it lives: a locked file with the memory its boxes may
// use. The kernel releases it however the runner ends, so there is nothing to remove. Slots are taken and counted
// under one more lock, so that two runs cannot both take the last of the memory.

const (
	// SlotGap is the pause between two attempts to get a slot.
	SlotGap = 250 * time.Millisecond
	// slotCount bounds the slots of a directory, whatever the configuration says.
	slotCount = 10_000
)

// Slot is a place among the runs of a state directory.
type Slot struct{ lock *flock.Flock }

// Release releases the slot; a nil slot was never taken.
func (s *Slot) Release() error {
	if s == nil {
		return nil
	}
	return s.lock.Close()
}

// Quota is how much the runs of a state directory may use together.
type Quota struct {
	Runs   int
	Memory int64 // bytes
}

func (s *State) slotsDir() string { return filepath.Join(s.dir, "slots") }

// TakeSlot takes a slot for a run of so many bytes of memory. A single run is always admitted. full is the reason
// without a slot, "" with one.
func (s *State) TakeSlot(ctx context.Context, q Quota, memory int64) (taken *Slot, full string, err error) {
	if err := os.MkdirAll(s.slotsDir(), 0o700); err != nil {
		return nil, "", err
	}
	slotsLock := flock.New(filepath.Join(s.slotsDir(), "door"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := slotsLock.TryLockContext(ctx, time.Millisecond); err != nil {
		return nil, "", errors.Join(err, context.Cause(ctx), slotsLock.Close())
	}
	defer func() { err = errors.Join(err, slotsLock.Close()) }()
	held, sum, free, err := s.countSlots()
	switch {
	case err != nil:
		return nil, "", err
	case held >= q.Runs || held >= slotCount:
		return nil, fmt.Sprintf("%d of %d runs are active", held, q.Runs), nil
	case held > 0 && sum+memory > q.Memory:
		return nil, fmt.Sprintf("%s of memory requested, and %s of %s are reserved for %s",
			document.Size(memory), document.Size(sum), document.Size(q.Memory), excerpt.Plural(held, "active run")), nil
	}
	path := s.slotPath(free)
	lock, err := newLock(path)
	if err != nil {
		return nil, "", err
	}
	if err := os.WriteFile(path, []byte(strconv.FormatInt(memory, 10)), 0o600); err != nil {
		return nil, "", errors.Join(err, lock.Close())
	}
	return &Slot{lock: lock}, "", nil
}

func (s *State) slotPath(n int) string { return filepath.Join(s.slotsDir(), strconv.Itoa(n)) }

// countSlots counts the held slots and the memory they reserve, and finds a free one.
func (s *State) countSlots() (held int, memory int64, free int, err error) {
	free = -1
	for n := 0; ; n++ {
		used, err := locked(s.slotPath(n))
		if err != nil {
			return 0, 0, 0, err
		}
		if !used {
			if free < 0 {
				free = n
			}
			if _, err := os.Lstat(s.slotPath(n)); errors.Is(err, fs.ErrNotExist) {
				return held, memory, free, nil
			}
			continue
		}
		held++
		text, err := document.ReadSmall(s.slotPath(n), 32)
		if err != nil {
			return 0, 0, 0, err
		}
		bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || bytes < 0 {
			return 0, 0, 0, fmt.Errorf("slot %d is damaged: %w", n, err)
		}
		memory += bytes
	}
}
