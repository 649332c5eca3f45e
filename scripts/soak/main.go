// Command soak runs many tasks, two at a time, while runners are killed, boxes are removed and a second runner works,
// and counts violations: a leak, a lost task, a task done twice, a damaged repository, an unexpected end, a growing
// runner. It prints one table and fails on any violation. The seed alone determines what happens to which task; the
// exact moment depends on the machine too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM) //nolint:forbidigo // this is main
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	bin := flag.String("bin", "bin/sandboxrun", "the program, which must be static")
	tasks := flag.Int("tasks", 1000, "how many tasks")
	seed := flag.Uint64("seed", 1, "decides what happens to each task")
	workers := flag.Int("parallel", 2, "tasks at a time")
	agents := flag.Bool("agents", true, "let a few tasks be an agent's")
	keep := flag.Bool("keep", false, "leave the state directories behind")
	flag.Parse()
	if *tasks < 10 || *workers < 1 {
		return errors.New("want at least 10 tasks and one worker")
	}
	program, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sandboxrun-soak-")
	if err != nil {
		return err
	}
	s, err := newSoak(program, dir, *tasks, *seed, *workers, *agents)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	err = s.run(ctx)
	s.report(os.Stdout) // also after an interruption
	if *keep || err != nil || s.outcomes.violations() > 0 {
		fmt.Fprintln(os.Stderr, "soak: everything is left in", dir)
	} else {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return err
	}
	if n := s.outcomes.violations(); n > 0 {
		return fmt.Errorf("%d violations", n)
	}
	return nil
}
