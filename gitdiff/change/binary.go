package change

import (
	"bufio"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
)

// literalLine is how many bytes one line of a literal encodes (emit_binary_diff_body in git's diff.c).
const literalLine = 52

// writeLiteral writes the whole content of one side as a literal of a binary patch, as a stream.
func (d *Diff) writeLiteral(w *bufio.Writer, s side) error {
	size, in := int64(0), io.ReadCloser(nil)
	if s.exists() {
		obj, err := d.storer.EncodedObject(plumbing.BlobObject, s.id)
		if err != nil {
			return gitobj.ReadError(s.id, err)
		}
		if size = obj.Size(); size > 0 {
			if in, err = obj.Reader(); err != nil {
				return gitobj.ReadError(s.id, err)
			}
			defer in.Close()
		}
	}
	if _, err := fmt.Fprintf(w, "literal %d\n", size); err != nil {
		return err
	}
	lines := &literalWriter{w: w}
	z := zlib.NewWriter(lines)
	if in != nil {
		n, err := io.Copy(z, io.LimitReader(in, size+1))
		if err == nil && n != size {
			err = fmt.Errorf("object %s: %d bytes, not %d", s.id, n, size)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(z.Close(), lines.flush()); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// literalWriter writes bytes as the lines of a binary patch: a letter for the number of bytes, then base 85.
type literalWriter struct {
	w    *bufio.Writer
	line [literalLine]byte
	n    int
}

func (l *literalWriter) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		k := copy(l.line[l.n:], p[done:])
		l.n, done = l.n+k, done+k
		if l.n == literalLine {
			if err := l.flush(); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// flush ends the line, if it holds anything.
func (l *literalWriter) flush() error {
	if l.n == 0 {
		return nil
	}
	length := byte('A' + l.n - 1)
	if l.n > 26 {
		length = byte('a' + l.n - 27)
	}
	out := append(make([]byte, 0, 2+literalLine*5/4), length)
	clear(l.line[l.n:])
	for i := 0; i < l.n; i += 4 {
		out = appendBase85(out, l.line[i:i+4])
	}
	l.n = 0
	_, err := l.w.Write(append(out, '\n'))
	return err
}

// base85 is the alphabet of git's base85.c; the arithmetic is that of the ascii85 of the standard library.
const base85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// appendBase85 appends four bytes as five letters.
func appendBase85(out, four []byte) []byte {
	var five [5]byte
	if ascii85.Encode(five[:], four) == 1 { // its short form of four zero bytes
		return append(out, "00000"...)
	}
	for _, c := range five {
		out = append(out, base85[c-'!'])
	}
	return out
}
