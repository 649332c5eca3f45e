// Package server connects the HTTP server to this machine: where it listens, who supervises it, what it can ask of the
// engine.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi"
)

// Where is where a server shall listen.
type Where struct {
	Addr    string // host:port
	Socket  string // absolute path, "" for none
	TLSCert string // files of a certificate and its key, both or none
	TLSKey  string
}

// Listen opens the listeners. Errors are *document.InputError where another choice would work. Listeners that systemd
// passes take the place of Addr and Socket.
func Listen(ctx context.Context, w Where) (httpapi.Listeners, error) {
	var l httpapi.Listeners
	if (w.TLSCert == "") != (w.TLSKey == "") {
		return l, &document.InputError{Message: "--tls-cert and --tls-key belong together"}
	}
	if w.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(w.TLSCert, w.TLSKey)
		if err != nil {
			return l, &document.InputError{Message: fmt.Sprintf("read the certificate: %v", err), Hint: "--tls-cert and --tls-key name PEM files"}
		}
		l.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	if err := passed(&l); err != nil {
		return l, errors.Join(err, Close(l))
	}
	if l.TCP == nil && l.Socket == nil {
		if err := open(ctx, w, &l); err != nil {
			return l, errors.Join(err, Close(l))
		}
	}
	if l.TCP != nil && l.TLS == nil && !config.Loopback(l.TCP.Addr().String()) {
		return l, errors.Join(needsTLS(l.TCP.Addr().String()), Close(l))
	}
	return l, nil
}

func needsTLS(addr string) error {
	return &document.InputError{Message: addr + " is no loopback address, and without TLS anybody on the way could read the token",
		Hint: "name --tls-cert and --tls-key, or listen on " + config.DefaultAddr}
}

func open(ctx context.Context, w Where, l *httpapi.Listeners) (err error) {
	if why := config.AddrProblem(w.Addr); why != "" {
		return &document.InputError{Message: fmt.Sprintf("--addr %q %s", w.Addr, why)}
	}
	if l.TLS == nil && !config.Loopback(w.Addr) {
		return needsTLS(w.Addr) // before anything listens
	}
	if l.TCP, err = new(net.ListenConfig).Listen(ctx, "tcp", w.Addr); err != nil {
		l.TCP = nil
		return &document.InputError{Message: fmt.Sprintf("listen: %v", err), Hint: "choose another port with --addr or serve.addr"}
	}
	if w.Socket == "" {
		return nil
	}
	l.Socket, err = openSocket(ctx, w.Socket)
	return err
}

// openSocket listens on a unix socket that only this user can reach. A socket that a killed server left is replaced:
// the caller holds the lock of the state directory, and nobody answers there.
func openSocket(ctx context.Context, path string) (net.Listener, error) {
	refuse := func(format string, args ...any) error {
		return &document.InputError{Message: fmt.Sprintf("--socket %s: %s", path, fmt.Sprintf(format, args...))}
	}
	if !filepath.IsAbs(path) {
		return nil, refuse("must be an absolute path")
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, refuse("%v", errors.Unwrap(err))
	}
	if st, ok := dir.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() || dir.Mode().Perm()&0o077 != 0 {
		return nil, refuse("its directory must belong to this user and have mode 0700")
	}
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode()&fs.ModeSocket == 0 {
			return nil, refuse("there is a file that is no socket")
		}
		if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
			_ = c.Close()
			return nil, refuse("another program listens there")
		}
		if err := os.Remove(path); err != nil {
			return nil, refuse("%v", err)
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, refuse("%v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(refuse("%v", err), l.Close())
	}
	return l, nil
}

// passed takes the listeners of systemd's socket activation: at most one of each kind.
func passed(l *httpapi.Listeners) error {
	list, err := activation.Listeners() // unsets the variables
	if err != nil {
		return fmt.Errorf("take listeners from systemd: %w", err)
	}
	for _, one := range list {
		switch {
		case one == nil:
			continue
		case one.Addr().Network() == "unix" && l.Socket == nil:
			l.Socket = one
		case strings.HasPrefix(one.Addr().Network(), "tcp") && l.TCP == nil:
			l.TCP = one
		default:
			return errors.Join(&document.InputError{Message: "systemd passes more than one listener of a kind"}, one.Close())
		}
	}
	return nil
}

// Close closes listeners that no server has taken.
func Close(l httpapi.Listeners) error {
	var errs []error
	for _, one := range []net.Listener{l.TCP, l.Socket} {
		if one != nil {
			errs = append(errs, one.Close())
		}
	}
	return errors.Join(errs...)
}

// URL is where callers reach the listener, "" without one.
func URL(l httpapi.Listeners) string {
	if l.TCP == nil {
		return ""
	}
	scheme := "http://"
	if l.TLS != nil {
		scheme = "https://"
	}
	a, ok := l.TCP.Addr().(*net.TCPAddr)
	if ok && a.IP.IsUnspecified() {
		return fmt.Sprintf("%slocalhost:%d", scheme, a.Port)
	}
	return scheme + l.TCP.Addr().String()
}
