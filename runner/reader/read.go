package reader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/scan"
)

// Reading is what is known of what a box left. After an error it has what was known before.
type Reading struct {
	Snapshot   *capture.Snapshot  // nil before the tree was captured, and where it was before this reading
	Diff       *change.Diff       // nil before all changes are known
	Inspection *change.Inspection // nil before the change was inspected
	Leaks      *scan.Leaks        // nil before the search for secrets has ended, and where nothing changed
	Patched    bool               // the patch is whole
}

// Progress is told of a reading while it goes on; nil functions are not called.
type Progress struct {
	Captured func(*capture.Snapshot)
	Compared func(*change.Diff)
	Searched func() // the patch is written next, unless there are known secrets
}

// Read has the child do the work, and returns once it has ended or needs to be stopped. The child makes the file of the patch,
// which must not exist; without [Reading.Patched] it may be half of one.
//
// The error is ctx's where that has ended, a [*LimitError] where the child needed more than it may use, and otherwise what
// [capture.Capture], [change.Compare], [scan.Change] and writing the patch return, or says what became of the child.
func (c *Child) Read(ctx context.Context, w Work, tell Progress) (Reading, error) {
	if c.failed != nil {
		return Reading{}, c.failed
	}
	defer context.AfterFunc(ctx, c.signal)()
	c.limits.MemoryBytes += indexMemory(w.Objects.Place().Borrowed)
	c.sending.Go(func() { _ = send(c.in, kindOrder, w.order(c.limits)) }) // a child that does not read it gives no answer
	t := &taker{work: &w, tell: tell}
	err := t.all(ctx, bufio.NewReader(c.out))
	switch {
	case ctx.Err() != nil && err != nil:
		err = overdue(ctx)
	case errors.Is(err, errEnded):
		err = c.death(err)
	}
	return t.out, err
}

// indexMemory is what the indexes of the user's packs take in memory, in bytes: they are no part of what a box left.
func indexMemory(objects []string) int64 {
	const times = 3 // the size of its file
	var n int64
	for _, dir := range objects {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil {
			continue // the child finds out
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".idx" {
				n += times * info.Size()
			}
		}
	}
	return n
}

// taker takes the answers of one child. Each kind is expected at its time only.
type taker struct {
	work *Work
	tell Progress

	out       Reading
	findings  []gitdiff.Finding
	diff      *change.Diff      // nil before the tree is captured
	describer *change.Describer // of its changes
}

// maxFindings bounds the findings of a capture, and those of an inspection. Both stop at fewer.
const maxFindings = 2000

// errEnded says that no answer follows, although some are missing.
var errEnded = errors.New("the answers ended early")

// all takes answers until the last one.
func (t *taker) all(ctx context.Context, from io.Reader) error {
	if t.work.Source == nil {
		if err := t.list(ctx, t.work.To); err != nil {
			return err
		}
	}
	for {
		k, text, err := receive(from, maxAnswer)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: %w", errEnded, err)
		}
		if err != nil {
			return err
		}
		done, err := t.take(ctx, k, text)
		if err != nil || done {
			return err
		}
	}
}

// take takes one answer, and says whether it was the last one.
func (t *taker) take(ctx context.Context, k kind, text []byte) (done bool, err error) {
	compared := t.out.Diff != nil
	switch {
	case k == kindFailed:
		return true, takeAs(text, func(f failed) error { return f.err() })
	case k == kindFound && t.out.Inspection == nil && (t.describer == nil || compared):
		return false, takeAs(text, t.found)
	case k == kindCaptured && t.describer == nil:
		return false, takeAs(text, func(c captured) error { return t.captured(ctx, c) })
	case k == kindDescribed && t.describer != nil && !compared && len(t.findings) == 0:
		return false, takeAs(text, t.described)
	case k == kindInspected && compared && t.out.Inspection == nil:
		return false, takeAs(text, t.inspected)
	case k == kindSearched && t.out.Inspection != nil && t.out.Leaks == nil && len(t.diff.Changes) > 0:
		return false, takeAs(text, t.leaks)
	case k == kindPatched && t.out.Leaks != nil && !t.out.Leaks.Known && !t.out.Patched:
		return false, takeAs(text, t.patched)
	case k == kindDone && t.complete():
		return true, nil
	}
	return false, fmt.Errorf("%w: message %q is not expected here", errProtocol, string(rune(k)))
}

func takeAs[T any](text []byte, use func(T) error) error {
	var v T
	if err := decode(text, &v); err != nil {
		return err
	}
	return use(v)
}

// complete says that nothing is missing.
func (t *taker) complete() bool {
	r := &t.out
	return r.Inspection != nil && (len(r.Diff.Changes) == 0 || r.Leaks != nil && (r.Leaks.Known || r.Patched))
}

func (t *taker) found(list []finding) error {
	if len(list) == 0 || len(t.findings)+len(list) > maxFindings {
		return fmt.Errorf("%w: number of findings", errProtocol)
	}
	for _, f := range list {
		one, err := f.taken()
		if err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		t.findings = append(t.findings, one)
	}
	return nil
}

// captured takes the captured tree, which must be in the store.
func (t *taker) captured(ctx context.Context, c captured) error {
	if c.Dropped < 0 || c.Ignored < 0 || c.Files < 0 || c.Bytes < 0 {
		return fmt.Errorf("%w: counts of a capture", errProtocol)
	}
	if err := t.work.Objects.CheckTree(c.Tree); err != nil {
		return fmt.Errorf("captured tree: %w", err)
	}
	snap := &capture.Snapshot{Tree: c.Tree, Findings: t.findings, Dropped: c.Dropped, Ignored: c.Ignored, Files: c.Files, Bytes: c.Bytes}
	t.findings = nil
	t.out.Snapshot = snap
	if t.tell.Captured != nil {
		t.tell.Captured(snap)
	}
	return t.list(ctx, c.Tree)
}

// list finds the changed paths in the two trees, so that no answer can hide one.
func (t *taker) list(ctx context.Context, to string) error {
	diff, err := change.List(ctx, t.work.Objects, t.work.From, to)
	if err != nil {
		return fmt.Errorf("compare trees: %w", err)
	}
	t.diff, t.describer = diff, diff.Describer()
	t.compared()
	return nil
}

// compared tells of the change once all of it is known.
func (t *taker) compared() {
	if !t.describer.Done() {
		return
	}
	t.out.Diff = t.diff
	if t.tell.Compared != nil {
		t.tell.Compared(t.diff)
	}
}

func (t *taker) described(list []change.Description) error {
	if len(list) == 0 {
		return fmt.Errorf("%w: no description", errProtocol)
	}
	for _, one := range list {
		if err := t.describer.Take(one); err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
	}
	t.compared()
	return nil
}

func (t *taker) inspected(in inspected) error {
	if in.Dropped < 0 {
		return fmt.Errorf("%w: counts of an inspection", errProtocol)
	}
	t.out.Inspection = &change.Inspection{Findings: t.findings, Dropped: in.Dropped}
	t.findings = nil
	return nil
}

func (t *taker) leaks(s searched) error {
	l, err := s.taken()
	if err != nil {
		return err
	}
	t.out.Leaks = &l
	if t.tell.Searched != nil {
		t.tell.Searched()
	}
	return nil
}

// patched takes the size of the patch, which is that of its file.
func (t *taker) patched(p patched) error {
	info, err := os.Lstat(t.work.Patch)
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	if p.Bytes == 0 || !info.Mode().IsRegular() || info.Size() != p.Bytes {
		return fmt.Errorf("%w: a patch of %d bytes in a file of %d", errProtocol, p.Bytes, info.Size())
	}
	t.out.Patched = true
	return nil
}
