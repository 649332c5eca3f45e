package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
)

// Steps lists every step of the program that creates or removes something outside its memory.
func Steps() []step.Name { return step.All() }

// stepLine is one line of a run's journal of steps. The first line of every writing process identifies it; others
// record one side of a step, or a fact that a later runner could not find out.
type stepLine struct {
	Mono   int64     `json:"mono"` // nanoseconds since boot, sleep included
	Step   step.Name `json:"step,omitempty"`
	Side   step.Side `json:"side,omitempty"`
	About  string    `json:"about,omitempty"` // a path, a container, a commit: by step
	Failed bool      `json:"failed,omitempty"`
	Fact   string    `json:"fact,omitempty"`
	Value  string    `json:"value,omitempty"`

	Instance string `json:"instance,omitempty"` // identity of the state directory
	Boot     string `json:"boot,omitempty"`     // identity of the boot
	PID      int    `json:"pid,omitempty"`      // for people; the lock shows whether it lives
}

// Facts of a run in its journal of steps.
const (
	FactBase = "base" // commit, tree, and the commit's time in RFC 3339
	factTree = "tree" // as captured
)

// StepLog writes the journal of steps. A line is one write, which survives the process; lines before a change to the
// user's repository also survive a crash of the machine. An unwritable journal does not stop the run: the lock, the
// marker and the labels show what must be removed. A nil StepLog writes nothing. It is safe for concurrent use.
type StepLog struct {
	mu   sync.Mutex
	file *os.File
}

// OpenSteps opens the journal of steps and records its new writer.
func (d *RunDir) OpenSteps() (*StepLog, error) {
	f, err := os.OpenFile(d.stepsPath(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal of steps: %w", err)
	}
	l := &StepLog{file: f}
	l.write(stepLine{Instance: d.state.id, Boot: bootID(), PID: os.Getpid()}, false)
	return l, nil
}

// Watch is the step.Journal of the run.
func (l *StepLog) Watch(n step.Name, about string) func(error) {
	l.write(stepLine{Step: n, Side: step.SideBefore, About: about}, n == land.StepStage || n == land.StepRef)
	return func(err error) {
		l.write(stepLine{Step: n, Side: step.SideAfter, About: about, Failed: err != nil}, false)
	}
}

// WriteBase records the commit the run starts from.
func (l *StepLog) WriteBase(c gitdiff.Commit) {
	l.Fact(FactBase, c.ID, c.Tree, c.Time.UTC().Format(time.RFC3339))
}

// WriteTree records the captured tree.
func (l *StepLog) WriteTree(tree string) { l.Fact(factTree, tree) }

// Fact records what a later runner could not find out.
func (l *StepLog) Fact(name string, values ...string) {
	l.write(stepLine{Fact: name, Value: strings.Join(values, " ")}, false)
}

func (l *StepLog) write(line stepLine, durable bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	line.Mono = int64(sinceBoot())
	text, err := json.Marshal(line)
	if err != nil {
		return
	}
	// The first newline ends a line that the death of an earlier writer cut short.
	if line.Instance != "" {
		text = append([]byte("\n"), text...)
	}
	if _, err := l.file.Write(append(text, '\n')); err == nil && durable {
		_ = unix.Fdatasync(int(l.file.Fd())) // the landing itself fails on a broken disk
	}
}

// Close ends the journal. It is idempotent.
func (l *StepLog) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close journal of steps: %w", err)
	}
	return nil
}

// bootID identifies the current boot of this machine; "" where it is unknown.
func bootID() string {
	id, err := document.ReadSmall("/proc/sys/kernel/random/boot_id", 64)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// sinceBoot is how long the machine has been up; changes of the clock do not affect it.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
