package state

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/google/renameio/v2"

	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
)

// Signer returns the signed statement about a result; the bytes are those that will be stored.
type Signer func(res *document.Result, stored []byte) ([]byte, error)

// UnsignedError says that a result is stored without a signed statement.
type UnsignedError struct{ Err error }

func (e *UnsignedError) Error() string { return e.Err.Error() }
func (e *UnsignedError) Unwrap() error { return e.Err }

// Finish ends the run: it closes the journal with closeJournal, writes the statement that sign makes (nil for none) and
// the result, and releases the lock. Without a written result the run counts as crashed; an *UnsignedError means that
// only the statement is missing.
func (d *RunDir) Finish(r *document.Result, closeJournal func() error, sign Signer) error {
	step.Before(stepClose)
	err := closeJournal()
	step.After(stepClose)
	data, merr := d.encode(r)
	if merr != nil {
		return errors.Join(err, merr, d.Unlock())
	}
	var unsigned error
	if sign != nil {
		step.Before(stepSign)
		unsigned = d.sign(r, data, sign) // before the result: whoever sees that finds the statement
		step.After(stepSign)
	}
	step.Before(stepResult)
	err = errors.Join(err, d.writeResult(data))
	step.After(stepResult)
	if err == nil {
		step.Before(stepUnmark)
		err = os.Remove(d.state.marker(d.id))
		step.After(stepUnmark)
	}
	if err = errors.Join(err, d.Unlock()); err == nil {
		err = unsigned
	}
	return err
}

func (d *RunDir) sign(r *document.Result, data []byte, sign Signer) error {
	statement, err := sign(r, data)
	if err == nil {
		err = d.write(statementFile, statement)
	}
	if err != nil {
		return &UnsignedError{Err: err}
	}
	return nil
}

// writeResult writes the result so that it survives a crash of the machine, its name included.
func (d *RunDir) writeResult(data []byte) error {
	if err := d.write("result.json", data); err != nil {
		return err
	}
	dir, err := os.Open(d.Dir())
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// encode is a document as the files of the run have it.
func (d *RunDir) encode(v any) ([]byte, error) {
	data, err := document.Encode(v)
	if err != nil {
		return nil, err
	}
	return d.secrets.JSON(data), nil
}

// write replaces a file atomically.
func (d *RunDir) write(name string, data []byte) error {
	if err := renameio.WriteFile(d.Path(name), data, 0o600, renameio.WithTempDir(d.Dir())); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
