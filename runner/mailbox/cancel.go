package mailbox

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"sandboxrun/runner/excerpt"
)

// maxCancel bounds the file of a cancel, in bytes, and what is kept of who asked and why.
const (
	maxCancel     = 16 << 10
	maxCancelText = 1 << 10
)

// Cancel asks for the end of a run.
type Cancel struct {
	SchemaVersion int       `json:"schema_version"`
	By            string    `json:"by"`
	Reason        string    `json:"reason,omitempty"`
	At            time.Time `json:"at"`
}

// Cancel asks the process that works on the run to stop it. Of several, the first is kept, and returned to all.
func (b Box) Cancel(c Cancel, now time.Time) (Cancel, error) {
	c.SchemaVersion, c.At = Version, now.UTC()
	c.By, c.Reason = excerpt.HeadTail(c.By, maxCancelText), excerpt.HeadTail(c.Reason, maxCancelText)
	err := post(stepCancel, b.cancelPath(), c, nil)
	if errors.Is(err, fs.ErrExist) {
		first, _, err := b.Cancelled()
		return first, err
	}
	return c, err
}

// Cancelled reports whether somebody asked for the end of the run. A damaged file asks for it as well: somebody made it
// to stop the run.
func (b Box) Cancelled() (c Cancel, asked bool, err error) {
	err = read(b.cancelPath(), maxCancel, &c)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, false, nil
	case errors.Is(err, ErrDamaged):
		return Cancel{By: "nobody", Reason: "cancel.json is damaged"}, true, nil
	}
	return c, err == nil, err
}

// Press reports whether the caller is the first to send the process of the cancelled run a signal: a second SIGTERM
// would keep it from writing its result.
func (b Box) Press(now time.Time) (bool, error) {
	err := post(stepCancel, filepath.Join(b.dir, "cancel.pressed.json"), Cancel{SchemaVersion: Version, By: "nobody", At: now.UTC()}, nil)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
