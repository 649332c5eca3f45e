package tail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// pieceSize is how much of a journal one reader holds in memory, in bytes.
const pieceSize = 32 << 10

var pieces = sync.Pool{New: func() any { b := make([]byte, pieceSize); return &b }}

// Piece is a part of one event's line, without its newline. Long lines come in several pieces. Data is valid until the
// next piece.
type Piece struct {
	Seq        int64
	Data       []byte
	Begin, End bool // the first, the last piece of the line

	// CaughtUp says, instead of all that, that the reader has all there is and waits.
	CaughtUp bool
}

// errStopped ends a walk over lines.
var errStopped = errors.New("stopped")

// Read calls do with the events from number from on, in order, until the last event was read (nil), do returns an error,
// or ctx ends. Whenever there is nothing more yet, do is called with CaughtUp, and again every tick.
func (t *Tail) Read(ctx context.Context, from int64, tick time.Duration, do func(Piece) error) error {
	r := reader{tail: t, from: from, do: do}
	r.offset = t.before(from).offset
	for {
		changed, err := r.advance(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.wait(ctx, changed, tick); err != nil {
			return err
		}
	}
}

type reader struct {
	tail   *Tail
	from   int64
	do     func(Piece) error
	offset int64 // of the next line, or of the next byte inside of a line
	seq    int64 // of the line that offset is inside of, 0 at the beginning of a line
}

// advance reads until there is nothing more, and returns the channel that closes when there is. The buffer is given back
// meanwhile: waiting readers hold no memory.
func (r *reader) advance(ctx context.Context) (<-chan struct{}, error) {
	buf, _ := pieces.Get().(*[]byte)
	defer pieces.Put(buf)
	for {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		n, changed, err := r.tail.readAt(*buf, r.offset)
		if err != nil || n == 0 {
			return changed, err
		}
		if err := r.lines((*buf)[:n]); err != nil {
			return nil, err
		}
	}
}

// lines hands on what is in data. It leaves a line that only begins at its end for the next reading, unless the line is
// longer than a piece.
func (r *reader) lines(data []byte) error {
	whole := len(data) < pieceSize
	for first := true; len(data) > 0; first = false {
		end := bytes.IndexByte(data, '\n')
		if end < 0 && r.seq == 0 && !first && !whole {
			return nil // read again from its beginning
		}
		p := Piece{Seq: r.seq, Data: data, End: end >= 0}
		took := len(data)
		if p.End {
			p.Data, took = data[:end], end+1
		}
		if r.seq == 0 {
			seq, _, ok := head(p.Data)
			if !ok {
				return errors.New("the journal was changed while it was read")
			}
			p.Seq, p.Begin = seq, true
		}
		if p.Seq >= r.from {
			if err := r.do(p); err != nil {
				return err
			}
		}
		r.seq = p.Seq
		if p.End {
			r.seq = 0
		}
		r.offset += int64(took)
		data = data[took:]
	}
	return nil
}

func (r *reader) wait(ctx context.Context, changed <-chan struct{}, tick time.Duration) error {
	timer := time.NewTimer(tick)
	defer timer.Stop()
	for {
		if err := r.do(Piece{CaughtUp: true}); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
			return nil
		case <-timer.C:
			timer.Reset(tick)
		}
	}
}

// Query says which events a page holds.
type Query struct {
	From   int64 // the first number, or
	Before int64 // the number after the last; 0 for none of both
	Limit  int
	Match  func(kind string, line []byte) bool // nil for all
}

// Page returns whole lines of events in order. Which journal is there when the call begins is what it reads.
func (t *Tail) Page(ctx context.Context, q Query) ([][]byte, error) {
	last, _ := t.Last()
	if q.Before == 0 {
		return t.span(ctx, max(1, q.From), last+1, q)
	}
	var found [][]byte
	for end := min(q.Before, last+1); end > 1 && len(found) < q.Limit; {
		begin := t.before(end - 1).seq
		block := q
		block.Limit = markEvery
		lines, err := t.span(ctx, begin, end, block)
		if err != nil {
			return nil, err
		}
		lines = lines[max(0, len(lines)-(q.Limit-len(found))):]
		found = append(lines, found...)
		end = begin
	}
	return found, nil
}

// maxPage bounds the bytes of a page.
const maxPage = 16 << 20

// span collects matching events with numbers from begin to before end.
func (t *Tail) span(ctx context.Context, begin, end int64, q Query) ([][]byte, error) {
	var found [][]byte
	var line []byte
	total := 0
	if begin >= end {
		return nil, nil
	}
	err := t.Read(ctx, begin, time.Hour, func(p Piece) error {
		if p.CaughtUp || p.Seq >= end {
			return errStopped
		}
		line = append(line, p.Data...)
		if !p.End {
			return nil
		}
		if _, kind, ok := head(line); ok && (q.Match == nil || q.Match(kind, line)) {
			total += len(line)
			if len(found) >= q.Limit || total > maxPage && len(found) > 0 {
				return errStopped
			}
			found = append(found, bytes.Clone(line))
		}
		line = line[:0]
		return nil
	})
	if errors.Is(err, errStopped) {
		err = nil
	}
	return found, err
}
