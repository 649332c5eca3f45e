// Command testsummary runs a `go test -json` command and reports while it runs:
// a line for each finished package, the output of failed tests, and every
// fifteen seconds what is running. At the end it lists every skip with its
// reason, and prints the counts on a line of their own. It exits with 1 when
// anything failed or nothing ran.
//
//	testsummary [-events FILE] [-again N] COMMAND… [-- CHOSEN…]
//
// CHOSEN are the words that choose packages and tests. With -again, a few failed
// tests get a second try: COMMAND with each of them alone.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"time"
)

// heartbeat is the time between two lines about what is running.
const heartbeat = 15 * time.Second

func main() {
	file := flag.String("events", "", "keep the events in this `FILE`")
	again := flag.Int("again", 0, "when at most `N` tests failed, run each of them once more, alone")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ok, err := summarize(os.Stdout, *file, *again, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// summarize runs the command and reports whether every test passed, a few of them perhaps at the second try.
func summarize(out io.Writer, file string, again int, words []string) (bool, error) {
	events := io.Discard
	if file != "" {
		f, err := os.Create(file)
		if err != nil {
			return false, err
		}
		defer f.Close()
		events = f
	}
	command, chosen := words, []string(nil)
	if i := slices.Index(words, "--"); i >= 0 {
		command, chosen = words[:i:i], words[i+1:]
	}
	r := newReport(out)
	code, err := runReported(r, events, append(command, chosen...))
	if err != nil {
		return false, err
	}
	// go test exits with 1 when tests failed, and the report lists those.
	explained := code == 0 || code == 1 && len(r.failed) > 0
	if err := r.secondTry(events, again, command); err != nil {
		return false, err
	}
	ok := r.end()
	if !explained {
		return false, fmt.Errorf("%s ended with exit code %d", command[0], code)
	}
	return ok, nil
}

// read reports events until in ends. Packages that have not ended by then have failed.
func read(r *report, in io.Reader, ticks <-chan time.Time) error {
	lines := make(chan []byte)
	var readErr error
	go func() {
		defer close(lines)
		b := bufio.NewReader(in)
		for {
			line, err := b.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				if err != io.EOF {
					readErr = fmt.Errorf("read events: %w", err)
				}
				return
			}
		}
	}()
	for {
		select {
		case line, more := <-lines:
			if !more {
				r.cut()
				return readErr
			}
			r.line(line)
		case <-ticks:
			r.alive()
		}
	}
}

// runReported runs a command, reports its events and returns its exit code, -1 after a signal.
func runReported(r *report, events io.Writer, command []string) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	readErr := read(r, io.TeeReader(in, events), ticks.C)
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), errors.Join(readErr, err)
}

// secondTry runs each failed test once more, alone, when there are at most so
// many, and moves those that pass now to the list of what passed alone. A failure
// that is not a test's own (see verdict) leaves things as they are.
func (r *report) secondTry(events io.Writer, most int, command []string) error {
	var tops []failure
	for _, f := range r.failed {
		if !slices.Contains(tops, f.top()) {
			tops = append(tops, f.top())
		}
	}
	if r.broken || len(tops) == 0 || len(tops) > most {
		return nil
	}
	for _, top := range tops {
		r.printf("\nonce more, alone: %s\n", top)
		second := newReport(r.out)
		only := []string{"-run", "^" + regexp.QuoteMeta(top.test) + "$", top.pkg}
		code, err := runReported(second, events, slices.Concat(command, only))
		if err != nil {
			return err
		}
		if code != 0 || second.total.failed > 0 {
			continue
		}
		r.failed = slices.DeleteFunc(r.failed, func(f failure) bool {
			if f.top() != top || !second.passed[f] {
				return false
			}
			r.alone = append(r.alone, f.String())
			r.total.failed--
			return true
		})
	}
	return nil
}
