package egress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"sandboxrun/sandbox/egress/tunnel"
)

// Frame layout of yamux, from its specification
// (github.com/hashicorp/yamux/blob/master/spec.md): version, type, flags (2),
// stream id (4), length (4); only data frames carry a body.
const (
	frameHeader = 12

	frameData   = 0
	frameWindow = 1
	framePing   = 2
	frameGoAway = 3

	flagSYN  = 1
	flagsAll = 1 | 2 | 4 | 8
)

var (
	errFrame       = errors.New("guest broke the tunnel protocol")
	errTunnelBytes = errors.New("guest sent more bytes than the tunnel allows")
)

// frames checks the yamux frames a guest sends and fails the read at the first one an honest guest never sends. yamux
// alone is not enough against a hostile peer: it starts a goroutine for every ping, which pile up when the peer does
// not read, and it lets the peer open streams with the ids of our own side.
type frames struct {
	io.ReadWriteCloser
	left   int64 // bytes the guest may still send
	header [frameHeader]byte
	have   int    // bytes of header collected
	body   uint32 // bytes of body still to pass
}

// Read returns bytes only after checking every frame header among them.
func (f *frames) Read(p []byte) (int, error) {
	n, err := f.ReadWriteCloser.Read(p)
	if f.left -= int64(n); f.left < 0 {
		return 0, errTunnelBytes
	}
	if bad := f.scan(p[:n]); bad != nil {
		return 0, bad
	}
	return n, err
}

func (f *frames) scan(p []byte) error {
	for len(p) > 0 {
		if f.body > 0 {
			n := min(uint64(f.body), uint64(len(p)))
			f.body -= uint32(n)
			p = p[n:]
			continue
		}
		n := copy(f.header[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have < frameHeader {
			return nil
		}
		f.have = 0
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *frames) check() error {
	kind := f.header[1]
	flags := binary.BigEndian.Uint16(f.header[2:])
	id := binary.BigEndian.Uint32(f.header[4:])
	length := binary.BigEndian.Uint32(f.header[8:])
	switch {
	case f.header[0] != 0 || flags&^flagsAll != 0:
		return fmt.Errorf("%w: unknown version or flags", errFrame)
	case flags&flagSYN != 0 && id%2 == 0:
		return fmt.Errorf("%w: stream id of the other side", errFrame)
	case kind == frameData && length > tunnel.StreamWindow:
		return fmt.Errorf("%w: frame larger than the window", errFrame)
	case kind == frameData:
		f.body = length
	case kind == frameWindow, kind == frameGoAway && length == 0:
	default:
		return fmt.Errorf("%w: unexpected frame", errFrame)
	}
	return nil
}
