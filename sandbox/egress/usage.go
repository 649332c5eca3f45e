package egress

import (
	"bytes"
	"strings"
)

const (
	// maxEvent bounds one SSE line that is still parsed, in bytes. The event that ends an OpenAI response repeats the
	// whole response.
	maxEvent    = 1 << 20
	maxDocument = 2 << 20 // bytes of one JSON body that is still parsed
)

// usageReader reads the usage in a document. An event is only parsed when it contains mark.
type usageReader struct {
	mark string
	read func(document []byte, u *Usage) // one JSON body or SSE data field
}

// setModel records which model answered, if the document names it.
func (u *Usage) setModel(model string) {
	if model != "" {
		u.Model = model
	}
}

// setInput records a count of input tokens that includes those read from the cache.
func (u *Usage) setInput(all *int64, cached int64) {
	if all == nil || cached < 0 || *all < cached {
		return
	}
	u.InputTokens, u.CacheReadTokens = *all-cached, cached
}

func setCount(field, value *int64) {
	if value != nil && *value >= 0 {
		*field = *value
	}
}

// usageTap reads the usage from a copy of a response. It keeps at most one line or document, never fails and never
// delays the stream: overlong ones are not counted.
type usageTap struct {
	reader   usageReader
	events   bool // server-sent events, else one JSON document
	buf      []byte
	overlong bool // the current line or document exceeded its bound
	usage    Usage
}

func newUsageTap(reader usageReader, contentType string) *usageTap {
	return &usageTap{reader: reader, events: strings.HasPrefix(contentType, "text/event-stream")}
}

func (t *usageTap) write(p []byte) {
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
	if ok && !t.overlong && bytes.Contains(data, []byte(t.reader.mark)) {
		t.reader.read(data, &t.usage)
	}
	t.buf, t.overlong = t.buf[:0], false
}

// end returns the usage after the last byte.
func (t *usageTap) end() Usage {
	if !t.overlong {
		if t.events {
			t.line()
		} else if len(t.buf) > 0 {
			t.reader.read(t.buf, &t.usage)
		}
	}
	return t.usage
}
