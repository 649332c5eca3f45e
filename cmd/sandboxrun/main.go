// Command sandboxrun runs a task for an untrusted coding agent in a throwaway
// container and reports what really changed. This package is flags, wiring,
// rendering and exit codes; the work is done by package runner.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(mainCode()) }

// mainCode is main without its end, so that tests can run it as a command.
func mainCode() int {
	boundMemory()
	// A reader that goes away early must not kill the run: with a handler
	// installed a write to a closed pipe is an error instead of a signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	p := &program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, environ: os.Environ, exit: os.Exit,
	}
	return p.run(context.Background(), os.Args)
}
