package egress

import (
	"io"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

const (
	// streamWindow bounds what one stream can make the other side buffer. It is
	// the smallest window yamux accepts.
	streamWindow = 256 << 10

	acceptBacklog = 64

	// stallTimeout ends a tunnel whose other side takes no bytes at all.
	stallTimeout = 30 * time.Second

	// hostLinger frees a stream the host has closed and the guest has not.
	hostLinger = 2 * time.Minute

	// guestLinger must outlast the longest answer to a client that has closed
	// its sending half.
	guestLinger = 30 * time.Minute
)

// tunnelConfig returns the yamux settings of one side. Keep-alive is off: the
// end of the container closes the stream, and pings are a way to cost memory.
func tunnelConfig(linger time.Duration) *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = acceptBacklog
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = stallTimeout
	c.MaxStreamWindowSize = streamWindow
	c.StreamOpenTimeout = stallTimeout
	c.StreamCloseTimeout = linger
	c.LogOutput = io.Discard // its lines would be written at the guest's pace
	return c
}

// stream is one connection through a tunnel. A yamux stream's own Close only
// ends the sending half; here that is CloseWrite, and Close also ends every
// Read and Write under way.
type stream struct {
	*yamux.Stream
	once    sync.Once
	release func() // called once, at the first Close
}

// Close ends both halves for this side and gives its place back.
func (s *stream) Close() error {
	err := s.Stream.Close()
	past := time.Unix(1, 0)
	s.once.Do(func() {
		if s.release != nil {
			s.release()
		}
	})
	if deadlineErr := s.SetDeadline(past); err == nil {
		err = deadlineErr
	}
	return err
}

// CloseWrite tells the other side that no more bytes follow.
func (s *stream) CloseWrite() error { return s.Stream.Close() }
