package runner

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

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// A run holds one slot of its state directory for as long as it lives: a locked
// file that says how much memory its boxes may use. The kernel lets go of it
// however the runner ends, so there is nothing to clear away. Slots are taken
// and counted under one more lock, so that two runs cannot take the last of the
// memory both.

const (
	// slotGap is the pause between two attempts to get a slot.
	slotGap = 250 * time.Millisecond
	// slotCount bounds the slots of a directory, whatever a configuration says.
	slotCount = 10_000
)

// BusyError says that the other runs of the state directory leave no room.
// Nothing was created.
type BusyError struct {
	Reason string
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("no room for another run after %s of waiting: %s", e.Waited.Round(time.Second), e.Reason)
}

// slot is a place among the runs of a state directory.
type slot struct{ lock *flock.Flock }

// release lets go of the slot; a nil one was never taken.
func (s *slot) release() error {
	if s == nil {
		return nil
	}
	return s.lock.Close()
}

// slotQuota is how much the runs of a state directory may use together.
type slotQuota struct {
	runs   int
	memory int64 // bytes
}

// quota fills in what the configuration leaves to the machine.
func (l LimitsConfig) quota() slotQuota {
	q := slotQuota{runs: firstSet(l.Runs, defaultRuns), memory: int64(l.TotalMemory)}
	var machine unix.Sysinfo_t
	if q.memory == 0 && unix.Sysinfo(&machine) == nil {
		q.memory = int64(machine.Totalram) * int64(machine.Unit) / 4 * 3
	}
	return q
}

func (s *State) slotsDir() string { return filepath.Join(s.dir, "slots") }

// takeSlot takes a slot for a run of so many bytes of memory. A run that is
// alone is always let in. full says why there is none; "" with a slot.
func (s *State) takeSlot(ctx context.Context, q slotQuota, memory int64) (taken *slot, full string, err error) {
	if err := os.MkdirAll(s.slotsDir(), 0o700); err != nil {
		return nil, "", err
	}
	door := flock.New(filepath.Join(s.slotsDir(), "door"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := door.TryLockContext(ctx, time.Millisecond); err != nil {
		return nil, "", errors.Join(err, context.Cause(ctx), door.Close())
	}
	defer func() { err = errors.Join(err, door.Close()) }()
	held, sum, free, err := s.countSlots()
	switch {
	case err != nil:
		return nil, "", err
	case held >= q.runs || held >= slotCount:
		return nil, fmt.Sprintf("%d of %d runs are active", held, q.runs), nil
	case held > 0 && sum+memory > q.memory:
		return nil, fmt.Sprintf("%s of memory asked for, and %s of %s are promised to %s",
			Size(memory), Size(sum), Size(q.memory), plural(held, "active run")), nil
	}
	path := s.slotPath(free)
	lock, err := newLock(path)
	if err != nil {
		return nil, "", err
	}
	if err := os.WriteFile(path, []byte(strconv.FormatInt(memory, 10)), 0o600); err != nil {
		return nil, "", errors.Join(err, lock.Close())
	}
	return &slot{lock: lock}, "", nil
}

func (s *State) slotPath(n int) string { return filepath.Join(s.slotsDir(), strconv.Itoa(n)) }

// countSlots counts the held slots and what they promise, and names a free one.
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
		text, err := readSmall(s.slotPath(n), 32)
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
