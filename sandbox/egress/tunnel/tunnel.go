// Package tunnel is the code both ends of a box's tunnel share: streams, the header that opens each, and copying
// between a stream and a connection.
package tunnel

import (
	"io"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

const (
	// StreamWindow bounds what one stream can make the other side buffer. yamux accepts no smaller window.
	StreamWindow = 256 << 10

	// AcceptBacklog is how many streams may wait to be accepted.
	AcceptBacklog = 64

	// stallTimeout ends a tunnel whose other side accepts no bytes at all.
	stallTimeout = 30 * time.Second

	// HostLinger frees a stream the host has closed and the guest has not.
	HostLinger = 2 * time.Minute

	// GuestLinger must outlast the longest answer to a client that has closed
	// its sending half.
	GuestLinger = 30 * time.Minute
)

// Config returns the yamux settings of one side. Keep-alive is off: the end of the container closes the stream, and
// pings would let a peer use up memory.
func Config(linger time.Duration) *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = AcceptBacklog
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = stallTimeout
	c.MaxStreamWindowSize = StreamWindow
	c.StreamOpenTimeout = stallTimeout
	c.StreamCloseTimeout = linger
	c.LogOutput = io.Discard // the guest would control how much it logs
	return c
}

// Stream is one connection through a tunnel. A yamux stream's own Close only ends the sending half; here that is
// CloseWrite, and Close also ends every Read and Write in progress.
type Stream struct {
	*yamux.Stream
	once    sync.Once
	Release func() // called once, at the first Close
}

// Close ends both halves for this side and calls Release.
func (s *Stream) Close() error {
	err := s.Stream.Close()
	past := time.Unix(1, 0)
	s.once.Do(func() {
		if s.Release != nil {
			s.Release()
		}
	})
	if deadlineErr := s.SetDeadline(past); err == nil {
		err = deadlineErr
	}
	return err
}

// CloseWrite signals the other side that no more bytes follow.
func (s *Stream) CloseWrite() error { return s.Stream.Close() }
