// Package transcript records what passes between an adapter and a real agent
// CLI, both directions, and plays the CLI's side of it again.
//
// What each side said is noted before the other can hear it. So whatever caused
// an entry stands above it, and a player that says the agent's words only after
// all of the host's words above them were said keeps every cause. Times are kept
// too, as agents speak of the time of day and adapters are patient for a while.
package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"
)

// Bounds of a recording, in bytes.
const (
	maxEntry      = 1 << 20
	maxTranscript = 4 << 20
)

// From is who says something.
type From string

// Who speaks. Standard error has its own name, as adapters read it apart.
const (
	Host   From = "host"
	Agent  From = "agent"
	Stderr From = "stderr"
)

// How things end: the values of Entry.End.
const (
	endInput   = "input"   // the host closed standard input
	endExit    = "exit"    // the process ended with Entry.Exit
	endRemoved = "removed" // the host removed the box
	endLost    = "lost"    // the box was lost, or the connection broke
	endBody    = "body"    // a streamed answer is complete
)

// Entry is one line of a transcript. It belongs to a process of the box, to a
// request over HTTP, or it is a mark; the first one says when all began. What was said is a Frame when it is JSON
// without white space, Data when it is such an event of a stream of events, and
// Line otherwise.
type Entry struct {
	Began *time.Time `json:"began,omitempty"`
	At    int64      `json:"at,omitempty"` // of the agent's entries and marks: milliseconds since then

	Mark string `json:"mark,omitempty"`

	Exec *int `json:"exec,omitempty"` // number of the process, from 0
	HTTP *int `json:"http,omitempty"` // number of the request, from 0
	From From `json:"from,omitempty"`

	Argv   []string `json:"argv,omitempty"`   // begins a process
	Method string   `json:"method,omitempty"` // begins a request, whose body is the entry's text
	Path   string   `json:"path,omitempty"`
	Status int      `json:"status,omitempty"` // begins an answer, with all of the body unless that is a stream
	Type   string   `json:"type,omitempty"`   // media type of the answer

	Frame json.RawMessage `json:"frame,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	Line  *string         `json:"line,omitempty"`

	End  string `json:"end,omitempty"`
	Exit *int   `json:"exit,omitempty"` // exit code
}

// eventPrefix begins the data of an event in a stream of events.
const eventPrefix = "data: "

// say puts text into an entry.
func (e Entry) say(text []byte) Entry {
	if data, ok := bytes.CutPrefix(text, []byte(eventPrefix)); ok && tight(data) {
		e.Data = slices.Clone(data)
		return e
	}
	if tight(text) {
		e.Frame = slices.Clone(text)
		return e
	}
	s := string(text)
	e.Line = &s
	return e
}

// text is what was said.
func (e Entry) text() []byte {
	switch {
	case e.Frame != nil:
		return e.Frame
	case e.Data != nil:
		return append([]byte(eventPrefix), e.Data...)
	case e.Line != nil:
		return []byte(*e.Line)
	}
	return nil
}

// tight says whether text is JSON that an encoder writes back as it is.
func tight(text []byte) bool {
	var b bytes.Buffer
	return len(text) > 0 && utf8.Valid(text) && json.Compact(&b, text) == nil && bytes.Equal(b.Bytes(), text)
}

// Write writes a transcript as lines of JSON.
func Write(w io.Writer, entries []Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i, e := range entries {
		if err := enc.Encode(e); err != nil {
			return fmt.Errorf("write entry %d: %w", i+1, err)
		}
	}
	return nil
}

// Read reads what Write wrote.
func Read(r io.Reader) ([]Entry, error) {
	b := bufio.NewReader(io.LimitReader(r, 2*maxTranscript))
	var list []Entry
	for {
		line, err := b.ReadBytes('\n')
		if len(line) > 0 {
			var e Entry
			dec := json.NewDecoder(bytes.NewReader(line))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&e); err != nil {
				return nil, fmt.Errorf("read entry %d: %w", len(list)+1, err)
			}
			list = append(list, e)
		}
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("read entry %d: %w", len(list)+1, err)
		}
	}
}
