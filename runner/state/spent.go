package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"sandboxrun/runner/document"
)

// Spent is what model requests cost.
type Spent struct {
	Requests int64 `json:"requests"`
	Tokens   int64 `json:"tokens"`
}

// spentDay is the file of a day's counts.
type spentDay struct {
	Day string `json:"day"` // in UTC, as 2006-01-02
	Spent
}

// maxSpentFile bounds that file, in bytes.
const maxSpentFile = 1 << 10

// Spend adds to what all runs of the directory spent on the day of now, in UTC, and returns the sum. With a limit, it adds
// nothing where the sum before has reached it: over says so. Runs that spend at one time wait for one another. A count is
// on the disk before Spend returns. Tokens of add may be negative, to correct an estimate.
func (s *State) Spend(ctx context.Context, now time.Time, add Spent, limit *Spent) (sum Spent, over bool, err error) {
	lock := flock.New(filepath.Join(s.dir, "spent.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, time.Millisecond); err != nil {
		return Spent{}, false, errors.Join(fmt.Errorf("lock the day's count of model requests: %w", err), lock.Close())
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	path := filepath.Join(s.dir, "spent.json")
	var day spentDay
	data, err := document.ReadSmall(path, maxSpentFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Spent{}, false, fmt.Errorf("read the day's count of model requests: %w", err)
	default:
		if err := json.Unmarshal(data, &day); err != nil || day.Requests < 0 || day.Tokens < 0 {
			return Spent{}, false, fmt.Errorf("%s is damaged; remove it to begin the day's count of model requests anew", path)
		}
	}
	// A clock that was set back does not make the day's limits new.
	if today := now.UTC().Format(time.DateOnly); today > day.Day {
		day = spentDay{Day: today}
	}
	if limit != nil && (limit.Requests > 0 && day.Requests >= limit.Requests || limit.Tokens > 0 && day.Tokens >= limit.Tokens) {
		return day.Spent, true, nil
	}
	day.Requests, day.Tokens = day.Requests+add.Requests, max(0, day.Tokens+add.Tokens)
	if data, err = json.Marshal(day); err != nil {
		return Spent{}, false, err
	}
	if err := renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.IgnoreUmask()); err != nil {
		return Spent{}, false, fmt.Errorf("write the day's count of model requests: %w", err)
	}
	return day.Spent, false, nil
}
