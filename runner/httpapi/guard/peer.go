package guard

import (
	"context"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

type peer int

const (
	peerUnknown peer = iota // not a unix socket: the token decides
	peerSelf                // a process of this very user
	peerForeign
)

type peerKey struct{}

// Socket wraps a listener on a unix socket, so that Connection knows which user is at the other end.
func Socket(l net.Listener) net.Listener { return socket{l} }

type socket struct{ net.Listener }

// Accept asks the kernel for the peer at once: a connection passes through wrappers before a request is read.
func (s socket) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	who := peerForeign
	if u, ok := c.(*net.UnixConn); ok {
		if uid, err := peerUser(u); err == nil && uid == os.Geteuid() {
			who = peerSelf
		}
	}
	return socketConn{c, who}, nil
}

type socketConn struct {
	net.Conn
	who peer
}

// LocalAddr carries the peer through wrappers, which hide everything but the methods of net.Conn.
func (c socketConn) LocalAddr() net.Addr { return socketAddr{c.Conn.LocalAddr(), c.who} }

type socketAddr struct {
	net.Addr
	who peer
}

// Connection notes for the requests of a connection which user is at its other end. It is an http.Server's ConnContext.
func Connection(ctx context.Context, c net.Conn) context.Context {
	addr, ok := c.LocalAddr().(socketAddr)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, addr.who)
}

func peerOf(ctx context.Context) peer {
	who, _ := ctx.Value(peerKey{}).(peer)
	return who
}

func peerUser(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	cerr := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if cerr != nil {
		return 0, cerr
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

func itoa(port int) string { return strconv.Itoa(port) }
