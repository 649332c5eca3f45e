// Package stream reads what the processes of a box write: it splits the engine's frames, counts output against a
// limit, and stops reading a stream that an orphan holds open.
package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A stream without a terminal comes in frames: eight bytes of header (stream
// number, three zeros, length in network order) and the payload.
// (Engine API reference, ContainerAttach, "Stream format".)
const (
	frameHeader = 8
	frameStdout = 1
	frameStderr = 2
	// maxFrame is far above what engines send (32 KiB); a longer claim means that the reader has lost the frame
	// boundaries.
	maxFrame = 16 << 20
	// frameBuffer is all the memory a stream takes, whatever frames claim.
	frameBuffer = 32 << 10
)

// ErrFrame says that the engine's stream has no valid frame.
var ErrFrame = errors.New("malformed stream from the engine")

// Split copies payloads to stdout and stderr until r ends between two
// frames. An end within a frame is io.ErrUnexpectedEOF; errors of the writers
// are returned as *sinkError.
func Split(r io.Reader, stdout, stderr io.Writer) error {
	buffer := make([]byte, frameBuffer)
	var header [frameHeader]byte
	for {
		if _, err := io.ReadFull(r, header[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		size := binary.BigEndian.Uint32(header[4:])
		var sink io.Writer
		switch header[0] {
		case 0, frameStdout:
			sink = stdout
		case frameStderr:
			sink = stderr
		default:
			return fmt.Errorf("%w: stream number %d", ErrFrame, header[0])
		}
		if header[1] != 0 || header[2] != 0 || header[3] != 0 || size > maxFrame {
			return fmt.Errorf("%w: header % x", ErrFrame, header)
		}
		if err := copyPayload(sink, r, int(size), buffer); err != nil {
			return err
		}
	}
}

// copyPayload copies exactly size bytes through buffer.
func copyPayload(sink io.Writer, r io.Reader, size int, buffer []byte) error {
	for left := size; left > 0; {
		n, err := r.Read(buffer[:min(left, len(buffer))])
		if n > 0 {
			if _, err := sink.Write(buffer[:n]); err != nil {
				return &SinkError{err}
			}
			left -= n
		}
		if err != nil && left > 0 {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// SinkError is a failure of the receiver, not of the stream.
type SinkError struct{ err error }

// Error implements error.
func (e *SinkError) Error() string { return "pass on output: " + e.err.Error() }

// Unwrap returns the receiver's error.
func (e *SinkError) Unwrap() error { return e.err }
