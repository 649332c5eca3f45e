package egress

import (
	"io"
	"strings"
	"time"

	"sandboxrun/sandbox/egress/tunnel"
)

// readNames records the names the guest reports, from one stream at a time.
func (t *link) readNames(st *tunnel.Stream) {
	defer st.Close()
	select {
	case t.names <- struct{}{}:
		defer func() { <-t.names }()
	default:
		return
	}
	buf := make([]byte, 256)
	for {
		if _, err := io.ReadFull(st, buf[:1]); err != nil {
			return
		}
		name := buf[1 : 1+int(buf[0])]
		if _, err := io.ReadFull(st, name); err != nil {
			return
		}
		if !quietName(string(name)) {
			t.gate.record.add(Record{Kind: KindDenied, Time: time.Now(), Name: string(name), Reason: reasonLookup})
		}
	}
}

// reasonLookup is recorded for names that programs look up themselves instead of through the proxy.
const reasonLookup = "looked up in the box, which has no name service"

// quietName reports whether a lookup is no attempt to reach a host: programs look up the name of an address or of this
// machine.
func quietName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".arpa") || !strings.Contains(name, ".")
}
