package agents

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// maxLine is how long one line of an agent's output may be, in bytes. Claude
// Code's handshake is 18 kB and its tool results reach megabytes.
const maxLine = 4 << 20

// line is one line of an agent's output, or the size of one that was too long.
type line struct {
	text    []byte // valid UTF-8 without the line ending; nil when dropped
	dropped int64  // bytes of a line that was left out
}

// lineReader reads lines of bounded length from a stream nobody vouches for.
// After a line that is too long it goes on with the next one; memory stays
// within the bound however long a line is.
type lineReader struct {
	r   *bufio.Reader
	max int
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// next returns the next line that is not empty, and io.EOF after the last. A
// last line without an ending counts.
func (l *lineReader) next() (line, error) {
	for {
		text, dropped, err := l.read()
		switch {
		case dropped > 0:
			return line{dropped: dropped}, nil
		case len(text) > 0:
			return line{text: repair(text)}, nil
		case err != nil:
			return line{}, err
		}
	}
}

// read returns one raw line without its ending, or how long it was.
func (l *lineReader) read() (text []byte, dropped int64, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case dropped > 0:
			dropped += int64(len(part))
		case len(text)+len(part) > l.max+1: // 1 for the ending
			dropped = int64(len(text) + len(part))
			text = nil
		default:
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(text, "\r\n"), dropped, err
		}
	}
}

// repair makes text valid UTF-8, so that whatever is built from it is valid JSON.
func repair(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte(string(utf8.RuneError)))
}
