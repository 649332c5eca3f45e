package redact

// verdict says how far a text agrees with a needle.
type verdict int

const (
	differs verdict = iota
	partial         // the text ends before the needle does
	agrees
)

// set is a fixed collection of needles, by the bytes they may begin with.
type set struct {
	byFirst [256][]needle
	// pairs are the two bytes a needle may begin with: nearly all text is
	// passed over by one look at it.
	pairs [256][256]bool
}

func newSet(all []needle) *set {
	s := &set{}
	for _, n := range all {
		for _, b := range n.form.spellings(n.chars[0]) {
			s.byFirst[b] = append(s.byFirst[b], n)
			for _, second := range append(n.form.spellings(n.chars[1]), "%\\\r\n :,"...) {
				s.pairs[b][second] = true
			}
		}
	}
	for second := range 256 {
		s.pairs['%'][second], s.pairs['\\'][second] = true, true
	}
	return s
}

// at looks for a needle exactly at the beginning of a text that is not empty.
// Of several the longest counts; open says that more text could make one.
func (s *set) at(text []byte) (found *needle, n int, open bool) {
	try := func(first byte, width int) {
		for i := range s.byFirst[first] {
			nd := &s.byFirst[first][i]
			end, how := nd.match(text, width)
			if how == agrees && end > n {
				found, n = nd, end
			}
			open = open || how == partial
		}
	}
	try(text[0], 1)
	// An escape with several backslashes is looked at from its last one on, or
	// a long run of them would be read again and again.
	if text[0] == '%' || text[0] == '\\' && (len(text) == 1 || text[1] != '\\') {
		c, width, more := escaped(text)
		if width > 0 {
			try(c, width)
		}
		open = open || more
	}
	return found, n, open
}

// match compares a text with the needle, whose first character is in the first
// width bytes of the text. A value that holds a percent sign may stand there as
// it is or encoded, which looks alike: both are tried.
func (n *needle) match(text []byte, width int) (end int, v verdict) {
	end, v = n.walk(text, width, true)
	if v == agrees || !n.percent {
		return end, v
	}
	end, raw := n.walk(text, width, false)
	return end, max(v, raw)
}

func (n *needle) walk(text []byte, pos int, decode bool) (end int, v verdict) {
	for i := 1; i < len(n.chars); i++ {
		c := n.chars[i]
		if pos < len(text) && text[pos] == c && c != '%' && c != '\\' {
			pos++
			continue
		}
		pos += n.form.gap(text[pos:])
		if pos >= len(text) {
			return 0, partial
		}
		width, more := n.char(text[pos:], c, decode)
		if more {
			return 0, partial
		}
		if width == 0 {
			return 0, differs
		}
		pos += width
	}
	return pos, agrees
}

// char is how many bytes at the beginning of a text are the character c, 0 when
// it is another.
func (n *needle) char(text []byte, c byte, decode bool) (width int, more bool) {
	b := text[0]
	if n.form.same(b, c) && (c != '%' && c != '\\' || !decode) {
		return 1, false
	}
	if b != '%' && b != '\\' {
		return 0, false
	}
	got, width, more := escaped(text)
	switch {
	case more:
		return 0, true
	case width > 0 && n.form.same(got, c):
		return width, false
	case b == '\\' && c == b: // escaped or not, once or several times
		return backslashes(text), false
	case b == c:
		return 1, false
	}
	return 0, false
}

// next finds the first needle in a text. Where there is none, from is how much
// of the text certainly holds no beginning of one: with final set all of it.
func (s *set) next(text []byte, final bool) (found *needle, from, to int) {
	last := len(text) - 1
	for i := range text {
		if i < last && !s.pairs[text[i]][text[i+1]] {
			continue
		}
		nd, n, open := s.at(text[i:])
		switch {
		case open && !final:
			return nil, i, i
		case nd != nil:
			return nd, i, i + n
		}
	}
	return nil, len(text), len(text)
}
