// Command testsummary reads `go test -json` on standard input and tells the story
// as it happens: a line per finished package, the output of what failed, a sign
// of life in between, and at the end every skip with its reason and the counts
// alone on a line. It exits with 1 when anything failed or nothing ran.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"
)

// heartbeat is how long the story may be silent.
const heartbeat = 15 * time.Second

func main() {
	ticks := time.NewTicker(heartbeat)
	ok, err := run(os.Stdin, os.Stdout, ticks.C)
	ticks.Stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run reads events until in ends and reports whether all was well.
func run(in io.Reader, out io.Writer, ticks <-chan time.Time) (bool, error) {
	lines := make(chan []byte)
	var readErr error
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadBytes('\n')
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
	s := newStory(out)
	for {
		select {
		case line, more := <-lines:
			if !more {
				return s.end(), readErr
			}
			s.line(line)
		case <-ticks:
			s.alive()
		}
	}
}
