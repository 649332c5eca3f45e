package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/stream"
)

// guestTail is how much of the guest's standard error is kept for messages.
const guestTail = 4 << 10

func newGuest(b *box) *guest {
	g := &guest{box: b, stderr: stream.Tail{Max: guestTail}}
	g.out, g.in = io.Pipe()
	return g
}

// Stdio is the guest's standard input and output; see sandbox.Sandbox.
func (b *box) Stdio() io.ReadWriteCloser { return b.guest }

// attach connects to the container before it starts, so that no byte is lost.
func (b *box) attach(ctx context.Context) error {
	e := b.engine
	conn, err := hijack(ctx, e, "attach to container", func(ctx context.Context) (types.HijackedResponse, error) {
		return e.client.ContainerAttach(ctx, b.container, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	})
	if err != nil {
		return err
	}
	g := b.guest
	g.mu.Lock()
	g.conn = &conn
	g.mu.Unlock()
	b.work.Go(func() {
		err := stream.Split(conn.Reader, dropping{g.in}, &g.stderr)
		if errors.Is(err, stream.ErrFrame) {
			b.end(&sandbox.EngineError{Op: "read from guest", Err: err})
		}
		b.noticeEnd()
		if b.life.Err() == nil {
			// The box lives and its tunnel does not: nothing in it can work.
			err = cmp.Or(err, io.EOF)
			b.end(&sandbox.UnavailableError{Op: "read from guest", Err: err, Hint: e.hint(err)})
		}
		// Last, so that a reader who sees the end can find the cause.
		g.in.Close()
	})
	return nil
}

// dropping drops the rest when the reader is gone: the guest must not block.
type dropping struct{ to *io.PipeWriter }

func (d dropping) Write(p []byte) (int, error) {
	if n, err := d.to.Write(p); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return n, err
	}
	return len(p), nil
}

// Read returns what the guest wrote, and io.EOF when the box is gone.
func (g *guest) Read(p []byte) (int, error) { return g.out.Read(p) }

// Write passes p to the guest. It fails when the box has ended.
func (g *guest) Write(p []byte) (int, error) {
	g.mu.Lock()
	conn, closed := g.conn, g.closed
	g.mu.Unlock()
	if closed || conn == nil {
		return 0, sandbox.ErrClosed
	}
	n, err := conn.Conn.Write(p)
	if err != nil {
		if cause := context.Cause(g.box.life); cause != nil {
			err = cause
		}
		return n, fmt.Errorf("write to guest: %w", err)
	}
	return n, nil
}

// Close ends the guest's input, and so the guest; its later output is dropped.
func (g *guest) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.conn == nil {
		return nil
	}
	g.closed = true
	g.out.Close()
	if err := g.conn.CloseWrite(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close guest input: %w", err)
	}
	return nil
}

// abandon cuts the connection, which ends every read and write.
func (g *guest) abandon() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.conn != nil {
		g.conn.Close()
	}
	g.in.Close()
}

// hijack is ask for a call that takes over its connection.
func hijack(ctx context.Context, e *Engine, op string, call func(context.Context) (types.HijackedResponse, error)) (types.HijackedResponse, error) {
	return ask(ctx, e, op, e.timeouts.Start, func(ctx context.Context) (types.HijackedResponse, error) {
		ctx, release := held(ctx)
		defer release()
		return call(ctx)
	})
}
