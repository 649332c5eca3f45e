package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Journal is the append-only list of a run's events, one JSON document a line.
// Everybody who wants to know about a run reads it; nobody holds it up. It is
// safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	file    *os.File
	run     string
	seq     int64  // of the last event
	sum     string // of the last line, see Event.Prev
	size    int64  // bytes of complete lines
	limits  journalLimits
	full    bool          // the limit of the whole was reached and told
	changed chan struct{} // closed and replaced when something was appended
	closed  bool
}

// journalLimits bound a journal in bytes.
type journalLimits struct {
	line  int64 // one line; longer ones are replaced by a mark
	total int64 // the whole, then only the course of the run is written
}

// errJournalClosed is returned by operations on a closed journal.
var errJournalClosed = errors.New("journal is closed")

// Open opens or creates the journal of a run to write to it, within the
// bounds of every journal. It continues after the last complete line; a line torn
// by a crash is cut off.
func Open(path, run string) (*Journal, error) {
	return openJournal(path, run, journalLimits{line: maxLine, total: maxJournal})
}

func openJournal(path, run string, limits journalLimits) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{file: f, run: run, limits: limits, changed: make(chan struct{})}
	if err := j.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), f.Close())
	}
	return j, nil
}

// recover finds the last complete line and cuts off what follows it. A crash of
// the host may leave garbage too; it must not keep a run from being settled.
func (j *Journal) recover() error {
	lines := newLineReader(j.file)
	for {
		e, err := lines.next()
		if errors.Is(err, io.EOF) || errors.Is(err, errCorrupt) {
			break
		}
		if err != nil {
			return err
		}
		j.seq, j.sum = e.Seq, lineSum(lines.line)
	}
	j.size = lines.offset
	j.full = j.size >= j.limits.total
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.file.Seek(j.size, io.SeekStart)
	return err
}

// Append writes one event in a single write and returns it with its number and
// its run. Seq and Run of the argument do not matter. After an error nothing of
// the event is in the journal, and the next one may be tried.
//
// Data too large for a line is replaced by a mark of its size. A journal that
// has grown to its limit says so once and then keeps only events that tell how
// the run goes; others come back with Seq 0 and are not written.
func (j *Journal) Append(e Event) (Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return Event{}, errJournalClosed
	}
	if !j.full && j.size >= j.limits.total {
		mark, err := j.write(Event{Time: e.Time, Phase: e.Phase, Kind: EventTruncated, Data: truncatedMark("journal", e.Kind, nil, j.size)})
		if err != nil {
			return mark, err
		}
		j.full = true
	}
	if j.full && !tellsCourse(e.Kind) {
		e.Seq, e.Run = 0, j.run
		return e, nil
	}
	e, err := j.write(e)
	if err == nil && (e.Kind == EventPhaseEnded || e.Kind == EventRunStarted || e.Kind == EventRunEnded) {
		err = j.sync()
	}
	return e, err
}

// tellsCourse names the kinds whose number the run itself bounds.
func tellsCourse(kind string) bool {
	switch kind {
	case EventRunStarted, EventRunEnded, EventPhaseStarted, EventPhaseEnded, EventLimitReached:
		return true
	}
	return false
}

// write puts one line at the end. What a failed write left behind is cut off.
func (j *Journal) write(e Event) (Event, error) {
	e.Seq, e.Run, e.Prev = j.seq+1, j.run, j.sum
	line, err := e.line(j.limits.line)
	if err != nil {
		return Event{}, fmt.Errorf("append to journal: %w", err)
	}
	if _, err := j.file.Write(line); err != nil {
		_, serr := j.file.Seek(j.size, io.SeekStart)
		return Event{}, fmt.Errorf("append to journal: %w", errors.Join(err, j.file.Truncate(j.size), serr))
	}
	j.seq, j.sum, j.size = e.Seq, lineSum(line), j.size+int64(len(line))
	close(j.changed)
	j.changed = make(chan struct{})
	return e, nil
}

// Sync makes what was appended survive a crash of the host.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errJournalClosed
	}
	return j.sync()
}

func (j *Journal) sync() error {
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// Close syncs and closes the journal. It is idempotent.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	close(j.changed) // nothing will ever change again
	return errors.Join(j.sync(), j.file.Close())
}

// state is the number of complete bytes, a channel that closes when there are
// more, and whether there can be more.
func (j *Journal) state() (size int64, changed <-chan struct{}, closed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size, j.changed, j.closed
}
