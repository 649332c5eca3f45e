package redact

// Stream redacts what arrives in pieces. It holds back no more than could be the
// beginning of a value: memory is in proportion to the longest one, whatever
// arrives. It is not safe for concurrent use.
type Stream struct {
	r    *Redactor
	held []byte
	at   int64 // offset of held in the whole, in bytes

	name  string // of the first value that was found
	where int64
}

// Stream begins a stream. That of a nil Redactor passes everything on, and so
// does a nil Stream.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Next takes a piece and returns what of the stream is certain by now. The
// result is valid until the next call and may share the memory of p.
func (s *Stream) Next(p []byte) []byte {
	if s == nil {
		return p
	}
	if len(s.held) > 0 {
		s.held = append(s.held, p...)
		p = s.held
	}
	out, used := s.r.current().replace(s.found, p, false)
	s.at += int64(used)
	rest := p[used:]
	if len(rest) == 0 {
		s.held = nil // p may be what out points into
		return out
	}
	s.held = append(make([]byte, 0, len(rest)), rest...)
	return out
}

// Rest ends the stream and returns what was held back.
func (s *Stream) Rest() []byte {
	if s == nil {
		return nil
	}
	out, used := s.r.current().replace(s.found, s.held, true)
	s.at, s.held = s.at+int64(used), nil
	return out
}

// Found returns the name of the first value of the stream, "" for none so far,
// and the offset at which it begins, in bytes.
func (s *Stream) Found() (name string, at int64) { return s.name, s.where }

func (s *Stream) found(name string, at int) {
	if s.name == "" {
		s.name, s.where = name, s.at+int64(at)
	}
}
