package egress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"sandboxrun/sandbox/egress/tunnel"
)

// frame builds a yamux frame header; a data frame's body follows by itself.
func frame(version, kind byte, flags uint16, id, length uint32) []byte {
	size := frameHeader
	if kind == frameData && length <= tunnel.StreamWindow {
		size += int(length)
	}
	b := make([]byte, size)
	b[0], b[1] = version, kind
	binary.BigEndian.PutUint16(b[2:], flags)
	binary.BigEndian.PutUint32(b[4:], id)
	binary.BigEndian.PutUint32(b[8:], length)
	return b
}

type readOnly struct{ io.Reader }

func (readOnly) Write(p []byte) (int, error) { return len(p), nil }
func (readOnly) Close() error                { return nil }

func TestFramesPassesOnlyWhatAnHonestGuestSends(t *testing.T) {
	t.Parallel()
	good := bytes.Join([][]byte{
		frame(0, frameWindow, flagSYN, 1, 0), frame(0, frameData, 0, 1, 70_000), frame(0, frameData, flagSYN, 3, 1),
		frame(0, frameData, 4, 3, 0), frame(0, frameWindow, 2, 2, 1<<30), frame(0, frameGoAway, 0, 0, 0),
	}, nil)
	for _, c := range []struct {
		name string
		bad  []byte
		want error
	}{
		{"no error", nil, nil},
		{"ping", frame(0, framePing, flagSYN, 0, 1), errFrame},
		{"version", frame(1, frameData, 0, 1, 0), errFrame},
		{"kind", frame(0, 9, 0, 1, 0), errFrame},
		{"flags", frame(0, frameData, 1<<9, 1, 0), errFrame},
		{"id of the host", frame(0, frameWindow, flagSYN, 4, 0), errFrame},
		{"oversized", frame(0, frameData, 0, 1, tunnel.StreamWindow+1), errFrame},
		{"going away with an error", frame(0, frameGoAway, 0, 0, 1), errFrame},
	} {
		input := append(bytes.Clone(good), c.bad...)
		for _, r := range []io.Reader{bytes.NewReader(input), iotest.OneByteReader(bytes.NewReader(input)), iotest.HalfReader(bytes.NewReader(input))} {
			got, err := io.ReadAll(&frames{ReadWriteCloser: readOnly{r}, left: 1 << 30})
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
			if c.bad == nil && !bytes.Equal(got, input) {
				t.Errorf("%s: bytes changed", c.name)
			}
			if len(got) >= len(input) && c.bad != nil {
				t.Errorf("%s: passed on", c.name)
			}
		}
	}
	if _, err := io.ReadAll(&frames{ReadWriteCloser: readOnly{bytes.NewReader(good)}, left: 100}); !errors.Is(err, errTunnelBytes) {
		t.Errorf("too many bytes: %v", err)
	}
}
