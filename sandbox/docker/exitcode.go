package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

const (
	// askExecGap is how often a running exec is inspected, in addition to events.
	askExecGap = 2 * time.Second
	// askExecErrors is how many failed inspections in a row are tolerated.
	askExecErrors = 5

	// deadMoment is how long an engine may take to notice the end of a box whose runtime starts no more processes.
	deadMoment = 250 * time.Millisecond

	codeFileSize = 128 + 25 // SIGXFSZ, as an exit code
)

// errNoExit says that the engine has no exit status for an ended exec.
var errNoExit = errors.New("the engine does not know how the process ended")

func (b *box) execState(id string) (container.ExecInspect, error) {
	e := b.engine
	return ask(b.life, e, "inspect exec", e.timeouts.Call, func(ctx context.Context) (container.ExecInspect, error) {
		return b.dialect.exec(ctx, e, id)
	})
}

// exitState waits until the engine reports that the exec has ended. Before that its ExitCode reads 0, and the end of
// its output proves nothing: a process may close its output and go on.
func (b *box) exitState(id string, ended <-chan struct{}) (container.ExecInspect, error) {
	failures := 0
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		state, err := b.execState(id)
		switch {
		case b.life.Err() != nil:
			return state, context.Cause(b.life)
		case errdefs.IsNotFound(err):
			b.noticeEnd()
			return state, err
		case err != nil:
			if failures++; failures == askExecErrors {
				return state, err
			}
		case !state.Running:
			if state.ExitCode == 0 && state.Pid == 0 {
				return state, &sandbox.EngineError{Op: "inspect exec", Err: errNoExit}
			}
			return state, nil
		default:
			failures = 0
		}
		select {
		case <-ended:
			ended = nil
		case <-time.After(pause):
		case <-b.life.Done():
		}
	}
}

// settle makes sure that the effects of the box's end or limits on the exec are known before its exit is reported: the
// exit and the report of a limit, or of the end of the main process, arrive separately.
func (b *box) settle(state container.ExecInspect) {
	select {
	case <-b.counters.located:
	case <-b.life.Done():
		return
	}
	b.counters.check(b)
	switch {
	case state.ExitCode == codeKilled:
		// Killed by itself, by the kernel for lack of memory, or by the end of the main process.
		b.awaitOOM()
		b.suspectEnd()
	case state.Pid == 0:
		// It never started: the program or the box does not exist. The process of a runtime with a kernel of its own
		// outlives its box a little.
		b.noticeEndWithin(deadMoment)
		b.suspectEnd()
	case state.ExitCode == codeFileSize:
		if err := b.disk.check(b); err != nil {
			b.end(fmt.Errorf("measure the tree: %w", err))
		}
	}
}

// suspectEnd waits until the end of the main process is reported, if it has ended.
func (b *box) suspectEnd() {
	pid := b.counters.pid
	if pid != 0 && !processEnded(pid) {
		return
	}
	b.noticeEnd()
	if pid != 0 {
		grace, cancel := context.WithTimeout(b.life, b.engine.timeouts.Call)
		defer cancel()
		<-grace.Done()
	}
}

// processEnded reports whether a process of this machine has ended, reaped or not.
func processEnded(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	// pid (name) state, proc(5); the name may hold anything.
	end := bytes.LastIndex(stat, []byte(") "))
	return end >= 0 && bytes.HasPrefix(stat[end+len(") "):], []byte("Z"))
}
