package reader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A message is its kind, the length of its text in four bytes, the highest first, and its text, which is JSON.
type kind byte

// Kinds of messages, in the order in which they come.
const (
	kindOrder     kind = 'O' // to the child: the work
	kindFound     kind = 'f' // some findings of the capture, or later of the inspection
	kindCaptured  kind = 'c' // the capture is complete
	kindDescribed kind = 'd' // some changes
	kindInspected kind = 'i' // the inspection is complete
	kindSearched  kind = 's' // the search for secrets has ended
	kindPatched   kind = 'p' // the patch is complete
	kindDone      kind = 'z' // nothing follows
	kindFailed    kind = 'e' // the error that ended the work; nothing follows
)

// Bounds of the text of one message, in bytes.
const (
	maxOrder  = 256 << 20
	maxAnswer = 1 << 20
)

// errProtocol says that what arrived is no message of this protocol.
var errProtocol = errors.New("unintelligible answer")

const headerBytes = 5

// send writes one message, in one piece.
func send(w io.Writer, k kind, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message %c: %w", k, err)
	}
	limit := maxAnswer
	if k == kindOrder {
		limit = maxOrder
	}
	if len(text) > limit {
		return fmt.Errorf("message %c has %d bytes, more than %d", k, len(text), limit)
	}
	frame := make([]byte, headerBytes, headerBytes+len(text))
	frame[0] = byte(k)
	binary.BigEndian.PutUint32(frame[1:], uint32(len(text)))
	_, err = w.Write(append(frame, text...))
	return err
}

// receive reads one message. Its text may take up to limit bytes.
func receive(r io.Reader, limit uint32) (kind, []byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err // io.EOF between two messages
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > limit {
		return 0, nil, fmt.Errorf("%w: a message of %d bytes", errProtocol, size)
	}
	text := bytes.NewBuffer(make([]byte, 0, min(size, 64<<10)))
	if n, err := io.CopyN(text, r, int64(size)); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: %d of %d bytes", io.ErrUnexpectedEOF, n, size)
		}
		return 0, nil, err
	}
	return kind(header[0]), text.Bytes(), nil
}

// decode reads the text of a message, which must be one value with no other fields than v's.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: text after the value", errProtocol)
	}
	return nil
}
