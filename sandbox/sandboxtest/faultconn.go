package sandboxtest

import (
	"net"
	"sync"
	"time"
)

// faultListener accepts connections that follow the proxy's settings.
type faultListener struct {
	net.Listener
	proxy *FaultProxy
}

func (l faultListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &faultConn{Conn: conn, proxy: l.proxy, closed: make(chan struct{})}
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.proxy.conns[c] = true
	return c, nil
}

// faultConn is one connection of a client.
type faultConn struct {
	net.Conn
	proxy  *FaultProxy
	once   sync.Once
	closed chan struct{}
}

func (c *faultConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err := c.obey(false); err != nil {
		return 0, err
	}
	return n, err
}

func (c *faultConn) Write(b []byte) (int, error) {
	if err := c.obey(true); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// CloseWrite passes on the end of one direction, which attached streams need.
func (c *faultConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *faultConn) Close() error {
	c.proxy.mu.Lock()
	delete(c.proxy.conns, c)
	c.proxy.mu.Unlock()
	return c.drop()
}

// drop closes the connection and releases blocked callers.
func (c *faultConn) drop() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// obey waits while the proxy hangs, and pauses while answers are slow.
func (c *faultConn) obey(answering bool) error {
	for {
		c.proxy.mu.Lock()
		hang, slow, change := c.proxy.hang, c.proxy.slow, c.proxy.change
		c.proxy.mu.Unlock()
		switch {
		case hang:
			select {
			case <-change:
			case <-c.closed:
				return net.ErrClosed
			}
		case slow > 0 && answering:
			select {
			case <-time.After(slow):
				return nil
			case <-c.closed:
				return net.ErrClosed
			}
		default:
			return nil
		}
	}
}
