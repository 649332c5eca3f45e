package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"sandboxrun/sandbox"
)

// Box is box with every process in it recorded. The environment is not noted:
// credentials live there.
func (r *Recorder) Box(box sandbox.Sandbox) sandbox.Sandbox { return recordedBox{box, r} }

type recordedBox struct {
	sandbox.Sandbox

	recorder *Recorder
}

// Exec implements sandbox.Sandbox.
func (b recordedBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	r := b.recorder
	n := r.next(&r.execs)
	r.note(Entry{Exec: n, From: Host, Argv: slices.Clone(c.Argv)}, nil)
	lines := func(from From) *noting {
		return &noting{note: func(text []byte) { r.note(Entry{Exec: n, From: from}, text) }}
	}
	out, errs := &notedWriter{lines(Agent), c.Stdout}, &notedWriter{lines(Stderr), c.Stderr}
	c.Stdout, c.Stderr = out, errs
	if c.Stdin != nil {
		c.Stdin = &notedReader{lines(Host), c.Stdin, func() { r.note(Entry{Exec: n, From: Host, End: endInput}, nil) }}
	}
	exit, err := b.Sandbox.Exec(ctx, c)
	out.flush()
	errs.flush()
	end := Entry{Exec: n, From: Agent}
	switch {
	case err == nil:
		end.End, end.Exit = endExit, &exit.Code
	case ctx.Err() != nil:
		end.End = endRemoved
	default:
		end.End = endLost
	}
	r.note(end, nil)
	return exit, err
}

// noting cuts a stream into lines.
type noting struct {
	note func(line []byte)
	rest []byte
}

// hear takes a part of the stream. Of a line that is too long enough is kept to
// let the recorder complain.
func (n *noting) hear(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			if len(n.rest) <= maxEntry {
				n.rest = append(n.rest, p...)
			}
			return
		}
		n.rest = append(n.rest, p[:i]...)
		p = p[i+1:]
		n.note(bytes.TrimSuffix(n.rest, []byte("\r")))
		n.rest = n.rest[:0]
	}
}

// flush notes a last line without an ending.
func (n *noting) flush() {
	if len(n.rest) > 0 {
		n.note(n.rest)
		n.rest = nil
	}
}

type notedWriter struct {
	*noting

	to io.Writer
}

func (w *notedWriter) Write(p []byte) (int, error) {
	w.hear(p)
	if w.to == nil {
		return len(p), nil
	}
	return w.to.Write(p)
}

type notedReader struct {
	*noting

	from  io.Reader
	ended func()
}

func (r *notedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.hear(p[:n])
	if errors.Is(err, io.EOF) {
		r.flush()
		r.ended()
	}
	return n, err
}

// Close lets a box unblock a read, where the host's own reader can.
func (r *notedReader) Close() error {
	if c, ok := r.from.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
