package runner

// ring keeps the last excerptTail bytes written to it.
type ring struct {
	buf []byte
	at  int // where the oldest byte is, once buf is full
}

func (r *ring) write(p []byte) {
	if len(p) >= excerptTail {
		r.buf, r.at = append(r.buf[:0], p[len(p)-excerptTail:]...), 0
		return
	}
	if room := excerptTail - len(r.buf); room > 0 {
		n := min(room, len(p))
		r.buf, p = append(r.buf, p[:n]...), p[n:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.at:], p)
		p, r.at = p[n:], (r.at+n)%excerptTail
	}
}

func (r *ring) len() int { return len(r.buf) }

// bytes are in the order they were written.
func (r *ring) bytes() []byte {
	return append(append(make([]byte, 0, len(r.buf)), r.buf[r.at:]...), r.buf[:r.at]...)
}
