package modelserver

import (
	"fmt"
	"net/http"
)

// deltaBytes is how much of a block one delta carries.
const deltaBytes = 24

// event is a server-sent event.
type event struct {
	name string // empty where the wire does not name its events
	data []byte
	last bool // carries a piece of the answer's last block
}

// stream sends events. A cut stream drops the connection in the middle of the
// last block.
func stream(w http.ResponseWriter, list []event, cut bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	pieces := 0
	for _, e := range list {
		if e.last {
			pieces++
		}
	}
	flush := http.NewResponseController(w)
	sent := 0
	for _, e := range list {
		if cut && e.last && sent >= pieces/2 {
			_ = flush.Flush() // the head at least, so that the client reads a stream that ends
			panic(http.ErrAbortHandler)
		}
		if e.last {
			sent++
		}
		// A client that left is noticed by its next request, so write errors
		// end nothing here.
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", e.data)
		_ = flush.Flush()
	}
}

// chunks splits s into pieces of about deltaBytes at rune boundaries; at least one.
func chunks(s string) []string {
	var parts []string
	start := 0
	for i := range s {
		if i-start >= deltaBytes {
			parts = append(parts, s[start:i])
			start = i
		}
	}
	return append(parts, s[start:])
}
