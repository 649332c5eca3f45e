package egress

import (
	"bytes"
	"strings"
)

const (
	maxEvent    = 256 << 10 // bytes of one SSE line that is still parsed
	maxDocument = 2 << 20   // bytes of one JSON body that is still parsed
)

// usageTap looks at a copy of a response for what it cost. It keeps at most one
// line or document, never fails and never holds the stream up: what is too long
// is not counted.
type usageTap struct {
	parse    func([]byte, *Usage)
	events   bool // server-sent events, else one JSON document
	buf      []byte
	overlong bool // the current line or document exceeded its bound
	usage    Usage
}

func newUsageTap(parse func([]byte, *Usage), contentType string) *usageTap {
	return &usageTap{parse: parse, events: strings.HasPrefix(contentType, "text/event-stream")}
}

func (t *usageTap) write(p []byte) {
	if t.parse == nil {
		return
	}
	if !t.events {
		t.keep(p, maxDocument)
		return
	}
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		t.keep(line, maxEvent)
		if !ended {
			return
		}
		t.line()
		p = rest
	}
}

func (t *usageTap) keep(p []byte, limit int) {
	if t.overlong || len(t.buf)+len(p) > limit {
		t.overlong, t.buf = true, t.buf[:0]
		return
	}
	t.buf = append(t.buf, p...)
}

func (t *usageTap) line() {
	data, ok := bytes.CutPrefix(t.buf, []byte("data:"))
	if ok && !t.overlong && bytes.Contains(data, []byte(`"usage"`)) {
		t.parse(data, &t.usage)
	}
	t.buf, t.overlong = t.buf[:0], false
}

// end returns what was counted, after the last byte.
func (t *usageTap) end() Usage {
	if t.parse != nil && !t.overlong {
		if t.events {
			t.line()
		} else if len(t.buf) > 0 {
			t.parse(t.buf, &t.usage)
		}
	}
	return t.usage
}
