package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"sandboxrun/internal/step"
)

var stepStart = step.Define("reader/start")

// Program is what children are made from.
type Program struct {
	Path   string // of a file that is this program
	Limits Limits // zero for [DefaultLimits]

	fault string // what goes wrong in the child, in tests of this package; "" for nothing
}

// environ is the whole environment of a child.
func environ(fault string) []string {
	env := []string{collector}
	if fault = cmp.Or(fault, faultOf(os.Getenv)); fault != "" {
		env = append(env, faultEnv+"="+fault)
	}
	return env
}

// faultEnv names what goes wrong in a child that was built to be tested, and where: "kill middle".
const faultEnv = "SANDBOXRUN_TEST_READER"

// collector lets the heap of a child grow before it is collected for the first time: most children end before that.
const collector = "GOGC=400"

// LimitError says that the child needed more than it may use.
type LimitError struct {
	What    string // what there was not enough of
	Allowed string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("reading what the box left takes more than %s of %s", e.Allowed, e.What)
}

// Child is a process that waits for its work, does it, and ends.
type Child struct {
	cmd     *exec.Cmd
	failed  error // why it could not be started
	limits  Limits
	in, out *os.File // the runner's ends of its input and output
	words   *words   // its standard error
	ended   chan struct{}
	kill    sync.Once
	sending sync.WaitGroup
}

// Start starts a child, which must be stopped. It takes some milliseconds until a child can read, so it is best started before
// there is work. The kernel ends it when this process ends. What kept it from starting is the error of [Child.Read].
func (p Program) Start() *Child {
	step.Before(stepStart)
	defer step.After(stepStart)
	c := &Child{limits: p.Limits, words: &words{}, ended: make(chan struct{})}
	if c.limits == (Limits{}) {
		c.limits = DefaultLimits()
	}
	if c.failed = c.start(p.Path, environ(p.fault)); c.failed != nil {
		c.failed = fmt.Errorf("start a process that reads: %w", c.failed)
		close(c.ended)
	}
	return c
}

func (c *Child) start(path string, env []string) (err error) {
	if path == "" {
		return errors.New("no program is named for it")
	}
	var theirs []*os.File
	defer func() { closeAll(theirs) }()
	in, mine, err := os.Pipe()
	if err != nil {
		return err
	}
	c.in, theirs = mine, append(theirs, in)
	mine, out, err := os.Pipe()
	if err != nil {
		return err
	}
	c.out, theirs = mine, append(theirs, out)
	c.cmd = &exec.Cmd{Path: path, Args: []string{"sandboxrun", Command}, Env: env, Dir: "/",
		Stdin: in, Stdout: out, Stderr: c.words, WaitDelay: time.Second,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	started := make(chan error)
	go c.watch(started)
	return <-started
}

// watch starts the child and waits for its end on one thread of its own: the child dies with the thread that started it.
func (c *Child) watch(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err == nil {
		_ = c.cmd.Wait() // its state has all
		close(c.ended)
	}
}

// Stop kills the child, if it lives, and waits for its end. It may be called again, and on nil.
func (c *Child) Stop() {
	if c == nil {
		return
	}
	c.signal()
	<-c.ended
	closeAll([]*os.File{c.in})
	c.sending.Wait()
	closeAll([]*os.File{c.out})
}

// signal kills the child and what it may have started, which is nothing.
func (c *Child) signal() {
	c.kill.Do(func() {
		select {
		case <-c.ended: // its number may be another's
		default:
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		}
	})
}

// grace is how long a child that answers no more has for its end.
const grace = time.Second

// death says why a child ended that had more to answer.
func (c *Child) death(err error) error {
	select {
	case <-c.ended:
	case <-time.After(grace):
		return fmt.Errorf("%w: it stopped answering", err)
	}
	state := c.cmd.ProcessState
	status, _ := state.Sys().(syscall.WaitStatus)
	text := c.words.String()
	switch {
	case status.Signaled() && state.UserTime()+state.SystemTime() >= c.limits.CPU:
		return &LimitError{What: "processor time", Allowed: c.limits.CPU.String()}
	case outOfMemory(text):
		return &LimitError{What: "memory", Allowed: fmt.Sprintf("%d MiB", c.limits.MemoryBytes>>20)}
	case text != "":
		return fmt.Errorf("the process that reads ended early (%s): %s", state, clip(text))
	}
	return fmt.Errorf("the process that reads ended early (%s)", state)
}

// overdue is the error of a child that was killed because ctx ended: its clock has run out, or somebody stops the run.
func overdue(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", &LimitError{What: "time", Allowed: "its bound"}, context.Cause(ctx))
	}
	return context.Cause(ctx)
}

// outOfMemory recognises the last words of a Go program that gets no more memory.
func outOfMemory(text string) bool {
	return strings.Contains(text, "out of memory") || strings.Contains(text, "cannot allocate memory")
}

// words keeps the beginning of what a child prints on its standard error.
type words struct {
	mu   sync.Mutex
	kept []byte
}

const maxWords = 1 << 10

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, p[:min(len(p), maxWords-len(w.kept))]...)
	return len(p), nil
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.kept)
}

func closeAll(list []*os.File) {
	for _, f := range list {
		_ = f.Close() // a pipe: nothing is lost, and one that was never made does not mind
	}
}
