package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// The journal's bounds. A reader needs one line in memory, a disk the whole.
const (
	maxLine    = 1 << 20
	maxJournal = 256 << 20
)

// lineReader reads complete lines of a file that may be growing.
type lineReader struct {
	r      *bufio.Reader
	part   []byte // beginning of a line whose end is not there yet
	line   []byte // the last complete line, valid until the next is read
	offset int64  // bytes of the complete lines that were read
	seq    int64  // of the last event
}

// await returns the next event of f, and waits for it where it is not there
// yet. ok is false when there will never be another.
func (l *lineReader) await(ctx context.Context, f io.ReadSeeker, wait waiter) (e Event, ok bool, err error) {
	for {
		e, err := l.next()
		switch {
		case err == nil:
			return e, true, context.Cause(ctx)
		case !errors.Is(err, io.EOF):
			return Event{}, false, fmt.Errorf("read journal: %w", err)
		}
		if more, err := wait(ctx, l.offset); err != nil || !more {
			return Event{}, false, err
		}
		if err := l.again(f); err != nil {
			return Event{}, false, fmt.Errorf("read journal: %w", err)
		}
	}
}

// again goes back to the end of the last complete line. What was read of the
// next one may have been cut off and written anew since.
func (l *lineReader) again(f io.ReadSeeker) error {
	l.part = l.part[:0]
	l.r.Reset(f)
	_, err := f.Seek(l.offset, io.SeekStart)
	return err
}

// next returns the next event, or io.EOF when no complete line is left; more
// may come later. Other errors are final.
func (l *lineReader) next() (Event, error) {
	for {
		piece, err := l.r.ReadSlice('\n')
		if len(l.part)+len(piece) > maxLine {
			return Event{}, fmt.Errorf("line at byte %d: %w: more than %d bytes", l.offset, errCorrupt, maxLine)
		}
		l.part = append(l.part, piece...)
		switch {
		case err == nil:
			return l.take()
		case !errors.Is(err, bufio.ErrBufferFull):
			return Event{}, err
		}
	}
}

// take parses the line that is complete now.
func (l *lineReader) take() (Event, error) {
	e, err := parseLine(bytes.TrimSuffix(l.part, []byte("\n")))
	if err != nil {
		return Event{}, fmt.Errorf("line at byte %d: %w", l.offset, err)
	}
	if e.Seq <= l.seq {
		return Event{}, fmt.Errorf("line at byte %d: %w: event %d follows event %d", l.offset, errCorrupt, e.Seq, l.seq)
	}
	l.seq = e.Seq
	l.offset += int64(len(l.part))
	l.line, l.part = l.part, l.part[:0]
	return e, nil
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// waiter waits until a journal may have more than size bytes. It is false when
// there will never be more.
type waiter func(ctx context.Context, size int64) (more bool, err error)
