package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/stream"
)

// Exec runs one process in the box; see sandbox.Sandbox.
//
// It returns when the engine reports that this process has ended, also when a child of it lives on and holds its
// output open: such a stream is read until it is silent for Timeouts.Linger, at most ten times that long, and then
// closed. The child runs until the box is closed.
//
// The exit of a process killed by SIGKILL is examined before it is returned: the out-of-memory killer may have sent
// the signal.
func (b *box) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	if len(c.Argv) == 0 {
		return sandbox.Exit{}, errors.New("exec: no command")
	}
	stop := context.AfterFunc(ctx, func() { b.end(context.Cause(ctx)) })
	defer stop()
	if ctx.Err() != nil {
		b.end(context.Cause(ctx))
	}
	exit, err := b.exec(c, &b.output)
	if b.life.Err() == nil && err == nil {
		return exit, nil
	}
	return sandbox.Exit{}, b.verdict(err)
}

// verdict is the error of an Exec that failed with err. When the box has ended, its cause is the reason and err a
// symptom.
func (b *box) verdict(err error) error {
	cause := context.Cause(b.life)
	if cause == nil {
		return fmt.Errorf("exec: %w", err)
	}
	if _, lost := errors.AsType[*sandbox.UnavailableError](cause); !lost {
		<-b.attempted
	}
	return cause
}

func (b *box) exec(c sandbox.Command, output *stream.Meter) (sandbox.Exit, error) {
	e := b.engine
	options := container.ExecOptions{
		User:         fmt.Sprintf("%d:%d", b.spec.User.UID, b.spec.User.GID),
		AttachStdin:  c.Stdin != nil,
		AttachStdout: true,
		AttachStderr: true,
		Env:          c.Env,
		WorkingDir:   sandbox.WorkDir,
		Cmd:          c.Argv,
	}
	created, err := ask(b.life, e, "create exec", e.timeouts.Call, func(ctx context.Context) (container.ExecCreateResponse, error) {
		return e.client.ContainerExecCreate(ctx, b.container, options)
	})
	if err != nil {
		b.suspectEndBy(err)
		return sandbox.Exit{}, err
	}
	ended, forget := b.execs.expect(created.ID)
	defer forget()
	started := time.Now()
	conn, err := hijack(b.life, e, "start exec", func(ctx context.Context) (types.HijackedResponse, error) {
		return e.client.ContainerExecAttach(ctx, created.ID, container.ExecAttachOptions{})
	})
	if err != nil {
		b.suspectEndBy(err)
	} else {
		err = b.converse(conn, created.ID, ended, c, output)
	}
	var state container.ExecInspect
	if err == nil {
		state, err = b.exitState(created.ID, ended)
	}
	if err != nil {
		// The process may be running, unobserved.
		b.end(fmt.Errorf("exec: %w", err))
		return sandbox.Exit{}, err
	}
	exit := sandbox.Exit{Code: state.ExitCode, Duration: time.Since(started)}
	b.settle(state)
	return exit, nil
}

// converse feeds the process and reads its output until the output ends, or the process has ended and its output is
// silent.
func (b *box) converse(conn types.HijackedResponse, id string, ended <-chan struct{}, c sandbox.Command, output *stream.Meter) error {
	defer conn.Close()
	cut := context.AfterFunc(b.life, conn.Close)
	defer cut()
	if c.Stdin != nil {
		// Not waited for: only the caller can make Stdin return.
		go feed(conn, c.Stdin)
	}
	r := stream.NewPatientReader(conn.Conn, conn.Reader, b.engine.timeouts.Linger)
	read := make(chan error, 1)
	go func() {
		read <- stream.Split(r, output.Writer(c.Stdout), output.Writer(c.Stderr))
	}()
	err := b.awaitOutput(r, read, id, ended)
	if r.Left() && (errors.Is(err, stream.ErrLeft) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return nil
	}
	if limit, ok := errors.AsType[*sandbox.LimitError](err); ok {
		b.end(limit)
	}
	if _, ours := errors.AsType[*stream.SinkError](err); ours || err == nil {
		return err
	}
	return b.engine.explain("read output", err)
}

// awaitOutput waits for the reader. The end of the process arrives as an engine event and, in case events fail, by
// polling.
func (b *box) awaitOutput(r *stream.PatientReader, read <-chan error, id string, ended <-chan struct{}) error {
	ask := time.NewTicker(askExecGap)
	defer ask.Stop()
	for {
		select {
		case err := <-read:
			return err
		case <-ended:
			ended = nil
			r.LeaveWhenSilent()
		case <-ask.C:
			if state, err := b.execState(id); err == nil && !state.Running {
				ask.Stop()
				r.LeaveWhenSilent()
			}
		}
	}
}

// suspectEndBy checks whether the box has ended when an engine refuses an exec in the words it uses for that; the
// event may still be on its way. The refusal to start an exec has a status that the SDK only passes on as text, and
// Podman refuses to create one with an internal error.
func (b *box) suspectEndBy(err error) {
	text := err.Error()
	if errdefs.IsConflict(err) || errdefs.IsNotFound(err) ||
		strings.Contains(text, "unable to upgrade") || strings.Contains(text, "container state improper") {
		b.noticeEnd()
	}
}

// feed copies input and then closes the process's input. Errors mean that the process closed its input early, as it
// may.
func feed(conn types.HijackedResponse, stdin io.Reader) {
	_, _ = io.Copy(conn.Conn, stdin)
	_ = conn.CloseWrite()
}
