package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrBroken is a journal that is not as it was written: a line was changed, removed, inserted or cut off.
var ErrBroken = errors.New("the journal is not as it was written")

// Head names the state of a journal by its last line. Each line holds the sum of the line before, so that the head
// vouches for all of them.
type Head struct {
	Seq    int64  // of the last event; 0 of an empty journal
	SHA256 string // of the last line with its newline, in hexadecimal; "" of an empty journal
}

// lineSum is the sum of a complete line, see Event.Prev.
func lineSum(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// Head returns the state after the last event that was appended.
func (j *Journal) Head() Head {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Head{Seq: j.seq, SHA256: j.sum}
}

// Verify reads a journal to its end and returns its head. The error is ErrBroken where a line does not follow from
// the one before, where bytes follow the last complete line, and where want is not the head that was found. A journal
// of a version that did not chain its lines is broken in this sense too: nothing vouches for it.
func Verify(ctx context.Context, path string, want Head) (Head, error) {
	f, err := os.Open(path)
	if err != nil {
		return Head{}, fmt.Errorf("verify journal: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	lines := newLineReader(f)
	var head Head
	for ctx.Err() == nil {
		e, err := lines.next()
		if errors.Is(err, io.EOF) {
			return head, compare(head, want, len(lines.part))
		}
		if errors.Is(err, errCorrupt) {
			return head, fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if err != nil {
			return head, fmt.Errorf("verify journal: %w", err)
		}
		if e.Seq != head.Seq+1 || e.Prev != head.SHA256 {
			return head, fmt.Errorf("%w: event %d does not follow from event %d", ErrBroken, e.Seq, head.Seq)
		}
		head = Head{Seq: e.Seq, SHA256: lineSum(lines.line)}
	}
	return head, context.Cause(ctx)
}

func compare(head, want Head, rest int) error {
	switch {
	case rest > 0:
		return fmt.Errorf("%w: %d bytes follow event %d", ErrBroken, rest, head.Seq)
	case head.Seq != want.Seq:
		return fmt.Errorf("%w: it ends with event %d instead of %d", ErrBroken, head.Seq, want.Seq)
	case head != want:
		return fmt.Errorf("%w: event %d is another one", ErrBroken, head.Seq)
	}
	return nil
}
