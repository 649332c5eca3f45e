package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/box"
)

var stepVerify = step.Define("verify/command")

// measurement runs the verification commands on one tree. Each has a box and a
// writable layer of its own, so that no command leaves anything for another:
// no file, no process, no home directory. The next box is opened while a
// command runs, and the last one is removed while the next command runs: at
// most three are there at a time, and the task's commands run in one of them.
type measurement struct {
	x      *run
	role   string
	shared shared
	out    []verifyOutcome
	began  bool // a command was run

	closing  sync.WaitGroup // removal of boxes whose command has ended
	closed   sync.Mutex     // guards failures
	failures []error        // of removals
}

// opening is a box for a command that is being opened.
type opening struct {
	done chan struct{} // closed when the rest is known
	box  *box.Box
	tree *workspace.Workspace
	err  error
}

// run makes what the boxes share, runs every command, and removes everything.
func (m *measurement) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, m.shared.remove(m.x)) }()
	if err := m.shared.prepare(ctx, m.x, m.role); err != nil {
		return err
	}
	ahead, stop := context.WithCancel(ctx)
	next := m.open(ahead, 0)
	defer func() {
		stop()
		m.await(next)
		m.remove(ctx, next)
		m.closing.Wait()
		err = errors.Join(append([]error{err}, m.failures...)...)
	}()
	for i := range m.out {
		now := next
		m.await(now)
		if now.err != nil {
			return now.err
		}
		next = m.open(ahead, i+1)
		step.Before(stepVerify)
		m.began = true
		m.out[i].run, err = m.x.command(ctx, now.box, m.role, m.out[i].Command)
		step.After(stepVerify)
		m.closing.Wait() // of the box before
		m.remove(ctx, now)
		if err != nil {
			return fmt.Errorf("command %q: %w", m.out[i].Command, err)
		}
	}
	return nil
}

// open begins to open the box of the command at an index; nil beyond the last.
func (m *measurement) open(ctx context.Context, at int) *opening {
	if at == len(m.out) {
		return nil
	}
	role := m.role
	if at > 0 {
		role = fmt.Sprintf("%s.%d", m.role, at+1)
	}
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.box, o.tree, o.err = m.x.commandBox(ctx, role, &m.shared)
	}()
	return o
}

func (m *measurement) await(o *opening) {
	if o != nil {
		<-o.done
	}
}

// remove begins to remove a box and its tree.
func (m *measurement) remove(ctx context.Context, o *opening) {
	if o == nil {
		return
	}
	m.closing.Go(func() {
		if err := m.x.discard(ctx, o.box, o.tree); err != nil {
			m.closed.Lock()
			defer m.closed.Unlock()
			m.failures = append(m.failures, err)
		}
	})
}

// commandBox opens a box with a layer of its own over what all of them share.
// It returns what is to be removed also with an error.
func (x *run) commandBox(ctx context.Context, role string, s *shared) (*box.Box, *workspace.Workspace, error) {
	tree, err := s.open(ctx, x, role)
	if err != nil {
		return nil, nil, err
	}
	b, err := x.boxes.Open(ctx, role, box.WithHome(tree.Mount(), s.setup.home), nil)
	if err == nil && s.setup.home != "" {
		err = b.UnpackHome(ctx)
	}
	return b, tree, err
}
