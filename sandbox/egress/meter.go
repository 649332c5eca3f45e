package egress

import (
	"io"
	"sync/atomic"
)

// meter counts the bytes of a body and fails the read that goes beyond left.
type meter struct {
	body   io.ReadCloser
	left   int64
	shared *atomic.Int64 // a budget several bodies draw on; nil: none
	count  atomic.Int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	// The budget first: bytes a body's own limit refuses are spent all the same.
	if m.shared != nil && m.shared.Add(-int64(n)) < 0 {
		return 0, errBudget
	}
	if m.count.Add(int64(n)) > m.left {
		return 0, errByteLimit
	}
	return n, err
}

// Close closes the body.
func (m *meter) Close() error { return m.body.Close() }
