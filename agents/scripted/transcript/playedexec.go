package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"sandboxrun/sandbox"
)

var (
	errPlayOver = errors.New("the play is over")
	errBoxLost  = errors.New("the box was lost")
)

// playedExec is one process of the player.
type playedExec struct {
	stdout, stderr io.Writer
	end            chan Entry
	returned       chan struct{}
}

// Exec implements sandbox.Sandbox.
func (p *Player) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	x := &playedExec{stdout: c.Stdout, stderr: c.Stderr, end: make(chan Entry), returned: make(chan struct{})}
	defer close(x.returned)
	if !p.hear(heard{exec: x, argv: slices.Clone(c.Argv)}) {
		return sandbox.Exit{}, errPlayOver
	}
	if c.Stdin != nil {
		// The host unblocks the read when Exec has returned, so End waits for it.
		p.group.Go(func() { p.listen(x, c.Stdin) })
	}
	select {
	case e := <-x.end:
		if e.End == endExit && e.Exit != nil {
			return sandbox.Exit{Code: *e.Exit}, nil
		}
		return sandbox.Exit{}, errBoxLost
	case <-ctx.Done():
		return sandbox.Exit{}, context.Cause(ctx)
	case <-p.ended:
		return sandbox.Exit{}, errPlayOver
	}
}

// Stdio implements sandbox.Sandbox; nothing listens there.
func (*Player) Stdio() io.ReadWriteCloser { return nil }

// Close implements sandbox.Sandbox. The player goes on: the host's next box is
// played by it too.
func (*Player) Close(context.Context) error { return nil }

// hear passes on what the host says; false means that nobody listens any more.
func (p *Player) hear(h heard) bool {
	select {
	case p.heard <- h:
		return true
	case <-p.ended:
		return false
	}
}

// listen reads the standard input of a process.
func (p *Player) listen(x *playedExec, stdin io.Reader) {
	r := bufio.NewReader(stdin)
	for {
		text, err := r.ReadBytes('\n')
		if len(text) > 0 {
			p.hear(heard{exec: x, text: bytes.TrimRight(text, "\r\n")})
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				p.hear(heard{exec: x, end: true})
			}
			return
		}
	}
}

// expectExec waits for what the host did with a process.
func (p *Player) expectExec(e Entry) error {
	if e.Argv != nil {
		h, err := p.await(e, func(h heard) bool { return h.exec != nil && h.argv != nil })
		if err != nil {
			return err
		}
		p.execs = append(p.execs, h.exec)
		return p.same(e, h)
	}
	x, err := p.exec(e)
	if err != nil {
		return err
	}
	h, err := p.await(e, func(h heard) bool { return h.exec == x && h.argv == nil })
	if err != nil {
		return err
	}
	return p.same(e, h)
}

// sayExec plays what a process did.
func (p *Player) sayExec(e Entry) error {
	x, err := p.exec(e)
	if err != nil {
		return err
	}
	switch e.End {
	case endExit, endLost:
		select {
		case x.end <- e:
		case <-x.returned:
			return errors.New("the host removed the box of a process that was to end by itself")
		case <-p.ended:
		}
		return nil
	case endRemoved:
		select {
		case <-x.returned:
		case <-p.ended:
		}
		return nil
	}
	to := x.stdout
	if e.From == Stderr {
		to = x.stderr
	}
	if to != nil {
		_, _ = to.Write(append(slices.Clone(p.chance.toLive(e.text())), '\n')) // fails when the box was removed
	}
	return nil
}

func (p *Player) exec(e Entry) (*playedExec, error) {
	if n := *e.Exec; n >= 0 && n < len(p.execs) {
		return p.execs[n], nil
	}
	return nil, errors.New("no such process")
}
