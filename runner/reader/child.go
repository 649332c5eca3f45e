package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/confine"
	"sandboxrun/internal/floor"
	"sandboxrun/internal/redact"
	"sandboxrun/runner/scan"
)

// Command is the hidden command of this program that makes it a child.
const Command = "read-tree"

// Exit codes of a child that could not answer.
const (
	exitAnswered = 0
	exitMute     = 1 // nobody reads its answers, or its order is not one
	exitAlone    = 3 // the runner is gone
)

// Main is the whole life of a child; it returns its exit code.
func Main(ctx context.Context) int {
	go scan.Prepare() // while the runner closes the box, which takes longer
	k, text, err := receive(os.Stdin, maxOrder)
	if err != nil || k != kindOrder {
		fmt.Fprintln(os.Stderr, "sandboxrun: this command is started by sandboxrun itself")
		return exitMute
	}
	go dieWithRunner(os.Stdin)
	fault(os.Stdout, pointStart)
	var o order
	c := &child{order: &o, out: os.Stdout}
	if err = decode(text, &o); err == nil {
		debug.SetMemoryLimit(o.Limits.MemoryBytes / 2)
		if err = c.confine(); err == nil {
			err = c.work(ctx)
		}
	}
	if err != nil {
		err = send(c.out, kindFailed, failedOf(err))
	} else {
		err = send(c.out, kindDone, struct{}{})
	}
	if err != nil {
		return exitMute
	}
	fault(os.Stdout, pointEnd)
	return exitAnswered
}

// dieWithRunner ends this process when the other end of its input is closed. The kernel ends it with the thread that started
// it as well; this is for systems on which that was lost.
func dieWithRunner(in io.Reader) {
	_, _ = in.Read(make([]byte, 1))
	os.Exit(exitAlone)
}

// child does the work of an order.
type child struct {
	order *order
	out   io.Writer
	patch *os.File
}

// confine opens the patch and then takes from this process what its order does not need.
func (c *child) confine() (err error) {
	o := c.order
	if c.patch, err = os.OpenFile(o.Patch, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return fmt.Errorf("make patch: %w", err)
	}
	for _, dir := range o.Place.Borrowed {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) { // the user has moved the repository
			return fmt.Errorf("%w: %w", &gitobj.MissingError{ID: o.From}, err)
		}
	}
	paths := confine.Paths{Read: o.Place.Borrowed, Write: []string{o.Place.Written()}}
	if o.Capture != nil {
		paths.Read = append(paths.Read, o.Capture.Root)
		paths.Marks = o.Capture.Marks == capture.TrustedMarks
	}
	_, err = confine.Self(confine.Limits(o.Limits), paths) // doctor says what this kernel lacks
	return err
}

func (c *child) work(ctx context.Context) (err error) {
	o := c.order
	objects, err := gitdiff.OpenAt(o.Place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	to := o.To
	if o.Capture != nil {
		if to, err = c.capture(ctx, objects); err != nil {
			return fmt.Errorf("capture tree: %w", err)
		}
	}
	fault(c.out, pointMiddle)
	diff, err := change.List(ctx, objects, o.From, to)
	if err == nil {
		err = diff.Describe(ctx)
	}
	if err != nil {
		return fmt.Errorf("compare trees: %w", err)
	}
	if err := c.described(diff); err != nil {
		return err
	}
	in, err := diff.Inspect(ctx, o.MaxFile)
	if err != nil {
		return fmt.Errorf("inspect change: %w", err)
	}
	if err := c.found(in.Findings); err != nil {
		return err
	}
	if err := send(c.out, kindInspected, inspected{Dropped: in.Dropped}); err != nil || len(diff.Changes) == 0 {
		return err
	}
	return c.publish(ctx, diff)
}

func (c *child) capture(ctx context.Context, objects *gitdiff.Objects) (tree string, err error) {
	src, err := c.order.Capture.Source(objects)
	if err != nil {
		return "", err
	}
	snap, err := capture.Capture(ctx, src)
	if err != nil {
		return "", err
	}
	if err := c.found(snap.Findings); err != nil {
		return "", err
	}
	return snap.Tree, send(c.out, kindCaptured, capturedOf(snap))
}

// batchBytes is how large a message of several elements may become, in bytes. One finding fits, whatever its path.
const batchBytes = 256 << 10

func (c *child) found(list []gitdiff.Finding) error {
	out := make([]finding, len(list))
	for i := range list {
		out[i] = findingOf(list[i])
	}
	return batches(out, batchBytes, func(some []finding) error { return send(c.out, kindFound, some) })
}

func (c *child) described(d *change.Diff) error {
	const at = 1000 // changes
	var some []change.Description
	for i := range d.Changes {
		if some = append(some, d.Changes[i].Description()); len(some) < at && i < len(d.Changes)-1 {
			continue
		}
		err := batches(some, batchBytes, func(some []change.Description) error { return send(c.out, kindDescribed, some) })
		if err != nil {
			return err
		}
		some = some[:0]
	}
	return nil
}

// publish searches the change for secrets, and writes the patch unless there are known ones.
func (c *child) publish(ctx context.Context, diff *change.Diff) error {
	known, err := redact.Of(c.order.Secrets)
	if err != nil {
		return err
	}
	leaks, err := scan.Change(ctx, diff, scan.Policy{Secrets: known, Allowed: c.order.Allowed})
	if serr := send(c.out, kindSearched, searchedOf(leaks)); err != nil || serr != nil || leaks.Known {
		return errors.Join(err, serr)
	}
	to := &counter{to: floor.New(filepath.Dir(c.order.Patch), c.order.FreeBytes).Writer(c.patch)}
	if err := errors.Join(diff.WritePatch(ctx, to), c.patch.Sync(), c.patch.Close()); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return send(c.out, kindPatched, patched{Bytes: to.n})
}

// counter counts what is written.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}
