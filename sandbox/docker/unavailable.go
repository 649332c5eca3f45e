package docker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/docker/docker/client"

	"sandboxrun/sandbox"
)

// explain tells an engine that cannot be reached from one that answered no, or
// nonsense: the first becomes *sandbox.UnavailableError with a hint, the second
// *sandbox.EngineError.
func (e *Engine) explain(op string, err error) error {
	if _, known := errors.AsType[*sandbox.UnavailableError](err); known {
		return fmt.Errorf("%s: %w", op, err)
	}
	if !unreachable(err) {
		return &sandbox.EngineError{Op: op, Err: err}
	}
	return &sandbox.UnavailableError{Op: op, Err: err, Hint: e.hint(err)}
}

func unreachable(err error) bool {
	var late *lateError
	var network *net.OpError
	return client.IsErrConnectionFailed(err) ||
		errors.As(err, &late) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
}

func (e *Engine) hint(err error) string {
	host := e.client.DaemonHost()
	var late *lateError
	switch {
	case errors.As(err, &late):
		return "the engine at " + host + " is reachable but does not answer: look at its log, then restart it"
	case errors.Is(err, fs.ErrPermission), strings.Contains(err.Error(), "permission denied"):
		return "you may not use " + host + ": join the group that owns the socket (often docker), or set DOCKER_HOST to an engine of your own"
	default:
		return "start the engine at " + host + " (for example: systemctl start docker), or set DOCKER_HOST to one that runs"
	}
}
