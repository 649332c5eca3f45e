package attack

import "bytes"

// outputCap is how much of one stream of a process is kept, in bytes.
const outputCap = 16 << 20

// capped keeps the first [outputCap] bytes that are written to it. It hides the buffer's ReadFrom, which knows no cap.
type capped struct{ kept bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := outputCap - c.kept.Len(); room > 0 {
		c.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Bytes is what was kept.
func (c *capped) Bytes() []byte { return c.kept.Bytes() }

// String is what was kept.
func (c *capped) String() string { return c.kept.String() }
