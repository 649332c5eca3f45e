// Package measure runs the commands of a verification on a tree, each in a box of its own over what set-up left, and set-up
// in a box before them.
package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
)

var stepCommand = step.Define("verify/command")

// Bench is what a measurement needs of its run.
type Bench struct {
	Trees *box.Trees
	Boxes *box.Boxes
	Under gitdiff.Commit // whose pristine checkout the trees lie over
	// Command runs one command in a box and records it. It is called for one box at a time.
	Command func(ctx context.Context, b *box.Box, phase, text string) (document.CommandRun, error)
	// SetUp runs the setup commands in a box, with an allow-list open; nil where there are none.
	SetUp func(ctx context.Context, b *box.Box, allow []string) error

	Began bool // a command was run
}

// measurement runs commands on one tree. Each has a box and a writable layer of its own, so that no command leaves anything
// for another: no file, no process, no home directory. The next box is opened while a command runs, and the last one is
// removed while the next command runs: at most three are there at a time, and commands of the task run in one of them.
type measurement struct {
	*Bench
	role     string
	commands []string
	shared   shared

	closing  sync.WaitGroup // removal of boxes whose command has ended
	mu       sync.Mutex     // guards failures
	failures []error        // of removals
}

// opening is a box for a command that is being opened.
type opening struct {
	done chan struct{} // closed when the rest is known
	box  *box.Box
	tree *workspace.Workspace
	err  error
}

// Run runs commands on a tree over what set-up left, and returns what was measured of those that came to be run, in order. role names
// the boxes to the engine and is the phase of the commands. The error can be sandbox.ErrOverlayUnsupported, a box that was
// lost or hit a limit, the end of ctx, or a *document.CleanupError.
func (b *Bench) Run(ctx context.Context, role, tree string, setup Setup, commands []string) (out []document.CommandRun, err error) {
	m := &measurement{Bench: b, role: role, commands: commands, shared: shared{tree: tree, setup: setup}}
	defer func() { err = errors.Join(err, m.shared.remove(b)) }()
	if err := m.shared.prepare(ctx, m); err != nil {
		return nil, err
	}
	ahead, stop := context.WithCancel(ctx)
	next := m.open(ahead, 0)
	defer func() {
		stop()
		if next != nil {
			<-next.done
			m.remove(ctx, next)
		}
		m.closing.Wait()
		err = errors.Join(append([]error{err}, m.failures...)...)
	}()
	for i, text := range commands {
		now := next
		<-now.done
		if now.err != nil {
			return out, now.err
		}
		next = m.open(ahead, i+1)
		b.Began = true
		step.Before(stepCommand)
		ran, err := b.Command(ctx, now.box, role, text)
		step.After(stepCommand)
		out = append(out, ran)
		m.closing.Wait() // of the box before
		m.remove(ctx, now)
		if err != nil {
			return out, fmt.Errorf("command %q: %w", text, err)
		}
	}
	return out, nil
}

// open begins to open the box of the command at an index; nil beyond the last.
func (m *measurement) open(ctx context.Context, at int) *opening {
	if at == len(m.commands) {
		return nil
	}
	role := m.role
	if at > 0 {
		role = fmt.Sprintf("%s.%d", m.role, at+1)
	}
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		if o.tree, o.err = m.shared.open(ctx, m.Bench, role); o.err != nil {
			return
		}
		o.box, o.err = m.Boxes.Open(ctx, role, box.WithHome(o.tree.Mount(), m.shared.setup.home), nil)
		if o.err == nil && m.shared.setup.home != "" {
			o.err = o.box.UnpackHome(ctx)
		}
	}()
	return o
}

// remove begins to remove a box and its tree.
func (m *measurement) remove(ctx context.Context, o *opening) {
	m.closing.Go(func() {
		var err error
		if o.box != nil {
			err = o.box.Discard(ctx)
		}
		if err == nil {
			err = m.CloseTree(o.tree)
		}
		if err != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.failures = append(m.failures, err)
		}
	})
}

// CloseTree removes a tree, which may be nil. Where a box may still be there, it stays: reap removes it when the engine answers again.
func (b *Bench) CloseTree(ws *workspace.Workspace) error {
	if ws == nil || b.Boxes.Left() {
		return nil
	}
	return b.Trees.Close(ws)
}
