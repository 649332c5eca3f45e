package agentstest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"sandboxrun/sandbox"
)

// ScriptBox is a box whose only process is a function that plays the CLI's side
// of the protocol, for what the real one cannot be made to say.
type ScriptBox struct {
	Play func(cli *ScriptedCLI) int
	// Lost is returned by Exec instead of an exit, when it is not nil.
	Lost error
}

// ScriptedCLI is what a script sees of the world.
type ScriptedCLI struct {
	in   *bufio.Reader
	out  io.Writer
	Err  io.Writer
	Gone <-chan struct{} // closed when the box is removed
}

// Exec implements sandbox.Sandbox.
func (b ScriptBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	if c.Stdin == nil {
		return sandbox.Exit{}, nil // no CLI: a command of the adapter
	}
	stop := context.AfterFunc(ctx, func() {
		if in, ok := c.Stdin.(io.Closer); ok {
			_ = in.Close()
		}
	})
	defer stop()
	code := b.Play(&ScriptedCLI{in: bufio.NewReader(c.Stdin), out: c.Stdout, Err: c.Stderr, Gone: ctx.Done()})
	switch {
	case b.Lost != nil:
		return sandbox.Exit{}, b.Lost
	case ctx.Err() != nil:
		return sandbox.Exit{}, context.Cause(ctx)
	}
	return sandbox.Exit{Code: code}, nil
}

// Stdio implements sandbox.Sandbox; nothing listens there.
func (ScriptBox) Stdio() io.ReadWriteCloser { return nil }

// Close implements sandbox.Sandbox.
func (ScriptBox) Close(context.Context) error { return nil }

// PreparedBox is a scriptBox in which files are looked for, of which there are
// none, and written before the CLI starts.
type PreparedBox struct{ ScriptBox }

// Exec implements sandbox.Sandbox.
func (b PreparedBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	switch {
	case c.Stdin == nil:
		return sandbox.Exit{}, nil
	case c.Stdout == nil:
		_, err := io.Copy(io.Discard, c.Stdin)
		return sandbox.Exit{}, err
	}
	return b.ScriptBox.Exec(ctx, c)
}

// Say prints lines.
func (c *ScriptedCLI) Say(lines ...string) {
	for _, l := range lines {
		_, _ = io.WriteString(c.out, l+"\n")
	}
}

// Hear reads the next message; nil means that the input has ended.
func (c *ScriptedCLI) Hear() map[string]any {
	b, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(b, &m) != nil {
		return map[string]any{"type": "not json"}
	}
	return m
}

// Drain reads until the input ends.
func (c *ScriptedCLI) Drain() int {
	for c.Hear() != nil {
	}
	return 0
}
