package box

import (
	"context"
	"fmt"
	"io"

	"sandboxrun/sandbox"
)

// Exec runs one process in the box, see sandbox.Sandbox. What it prints counts towards what all boxes of the run may print
// together, also when another box was open before: the engine bounds only what each of them prints.
func (b *Box) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	c.Stdout, c.Stderr = b.of.counted(c.Stdout), b.of.counted(c.Stderr)
	return b.Sandbox.Exec(ctx, c)
}

// counted counts what is written to w, which may be nil, and refuses what is beyond the limit of the run.
func (bs *Boxes) counted(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return &countedWriter{bs, w}
}

type countedWriter struct {
	of *Boxes
	to io.Writer
}

func (w *countedWriter) Write(p []byte) (int, error) {
	most := w.of.Plan.Limits.OutputBytes
	over := w.of.printed.Add(int64(len(p))) - most
	if over <= 0 || most <= 0 {
		return w.to.Write(p)
	}
	n, err := w.to.Write(p[:max(0, int64(len(p))-over)])
	if err != nil {
		return n, err
	}
	return n, &sandbox.LimitError{
		Limit: sandbox.LimitOutput, Which: sandbox.MeasureOutput, Allowed: most, Measured: most + over,
		Detail: fmt.Sprintf("the boxes of the run printed more than %d bytes together", most),
	}
}
