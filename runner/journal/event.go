// Package journal is the append-only list of a run's events, one JSON document a
// line: the types of its events, its writer and its readers.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sandboxrun/runner/excerpt"
)

// Event is one line of a run's journal and one message of its streams.
type Event struct { //nolint:recvcheck // marshals without an address; line changes it
	Seq  int64     `json:"seq"` // from 1, without gaps
	Time time.Time `json:"time"`
	Run  string    `json:"run"`
	// Prev is the SHA-256 of the line before with its newline, in hexadecimal; "" in the first line, and in journals of
	// versions that did not chain lines.
	Prev  string          `json:"prev"`
	Phase string          `json:"phase"`
	Kind  string          `json:"kind"`
	Data  json.RawMessage `json:"data"`
}

// timeForm is RFC 3339 in UTC with exactly three digits of milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// maxHead bounds how much of an oversized event its mark shows, in bytes.
const maxHead = 2 << 10

// MarshalJSON writes the event as the contract has it. Wherever an event is
// shown, it is the same bytes.
func (e Event) MarshalJSON() ([]byte, error) {
	data := e.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	return json.Marshal(struct {
		Seq   int64           `json:"seq"`
		Time  string          `json:"time"`
		Run   string          `json:"run"`
		Prev  string          `json:"prev,omitempty"`
		Phase string          `json:"phase"`
		Kind  string          `json:"kind"`
		Data  json.RawMessage `json:"data"`
	}{e.Seq, e.Time.UTC().Format(timeForm), e.Run, e.Prev, e.Phase, e.Kind, data})
}

// line is the event with its newline, in at most limit bytes. Marshalling
// compacts the data, so that no newline is inside. e becomes what is written.
func (e *Event) line(limit int64) ([]byte, error) {
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	// Marshalling costs time and memory; far too much data need not suffer it.
	if int64(len(e.Data)) <= 8*limit {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		if int64(len(line)) < limit {
			return append(line, '\n'), nil
		}
	}
	e.Data = truncatedMark("line", e.Kind, e.Data, int64(len(e.Data)))
	e.Kind = EventTruncated
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	if int64(len(line)) >= limit {
		return nil, fmt.Errorf("event of kind %s does not fit into a line of %d bytes", e.Kind, limit)
	}
	return append(line, '\n'), nil
}

// truncatedMark is the data of a truncated event: what was left out and why,
// with the id that joins a tool's call and result.
func truncatedMark(reason, kind string, data []byte, size int64) json.RawMessage {
	mark := Truncated{Reason: reason, Kind: excerpt.Clip(kind, 64), Bytes: size, ID: leadingID(data), Head: excerpt.Clip(string(data[:min(len(data), maxHead)]), maxHead)}
	raw, err := json.Marshal(mark)
	if err != nil {
		panic(fmt.Sprintf("truncated event: %v", err)) // strings and numbers always marshal
	}
	return raw
}

// leadingID reads the id of a tool's call or result, which is their first
// field, without reading the rest.
func leadingID(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, want := range []json.Token{json.Delim('{'), "id"} {
		if tok, err := dec.Token(); err != nil || tok != want {
			return ""
		}
	}
	tok, err := dec.Token()
	id, ok := tok.(string)
	if err != nil || !ok {
		return ""
	}
	return excerpt.Clip(id, 256)
}

// errCorrupt is a complete line that is not the next event.
var errCorrupt = errors.New("not the next event")

// parseLine reads one line of a journal.
func parseLine(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if e.Seq < 1 || e.Kind == "" {
		return Event{}, errCorrupt
	}
	return e, nil
}
