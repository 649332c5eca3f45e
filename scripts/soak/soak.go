package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A soak has parts: tenths, or halves where it has few tasks. Between two parts nothing runs, so that everything left
// then is a leak.
const (
	tenths   = 10
	halves   = 2
	fewTasks = 100
)

// soak is one run of this program.
type soak struct {
	dir      string
	tasks    []assignment
	workers  int
	parts    int
	seed     uint64
	repos    []*repo
	main     *site // whose runners are killed
	beside   *site // of a second runner, on the same repositories and engine
	inside   *inProcess
	outcomes *outcomes
	began    time.Time
	took     time.Duration
}

func newSoak(program, dir string, tasks int, seed uint64, workers int, agents bool) (*soak, error) {
	s := &soak{dir: dir, workers: workers, parts: tenths, seed: seed, outcomes: newOutcomes()}
	if tasks < fewTasks {
		s.parts = halves
	}
	var err error
	if s.main, err = newSite(program, filepath.Join(dir, "main")); err != nil {
		return nil, err
	}
	if s.beside, err = newSite(program, filepath.Join(dir, "beside")); err != nil {
		return nil, err
	}
	if s.repos, err = makeRepos(filepath.Join(dir, "repos")); err != nil {
		return nil, err
	}
	if s.inside, err = newInProcess(s.main); err != nil {
		return nil, err
	}
	for i := range tasks {
		s.tasks = append(s.tasks, assign(seed, i, len(s.repos), agents))
	}
	return s, nil
}

// run does all tasks and audits between the parts.
func (s *soak) run(ctx context.Context) error {
	s.began = time.Now()
	defer func() { s.took = time.Since(s.began) }()
	defer s.inside.close()
	for part := range s.parts {
		beside := make(chan struct{})
		var neighbour sync.WaitGroup
		neighbour.Go(func() { s.liveBeside(ctx, beside, part) })
		err := s.doAll(ctx, s.tasks[len(s.tasks)*part/s.parts:len(s.tasks)*(part+1)/s.parts])
		close(beside)
		neighbour.Wait()
		if err == nil {
			err = s.lookAround(ctx)
		}
		if err != nil {
			return errors.Join(err, s.clear(context.WithoutCancel(ctx)))
		}
		fmt.Fprintf(os.Stderr, "%3d%%  %s  %d tasks, %d violations\n", (part+1)*100/s.parts,
			time.Since(s.began).Round(time.Second), len(s.tasks)*(part+1)/s.parts, s.outcomes.violations())
	}
	return nil
}

// clear removes what the runners of an interrupted soak left.
func (s *soak) clear(ctx context.Context) error {
	return errors.Join(s.main.command(ctx, "reap").Run(), s.beside.command(ctx, "reap").Run())
}

// doAll does some tasks, a few at a time.
func (s *soak) doAll(ctx context.Context, tasks []assignment) error {
	queue := make(chan assignment)
	errs := make(chan error, s.workers)
	var wg sync.WaitGroup
	for range s.workers {
		wg.Go(func() {
			var err error
			for a := range queue {
				if err == nil {
					err = s.do(ctx, a)
				}
			}
			errs <- err
		})
	}
	for _, a := range tasks {
		queue <- a
	}
	close(queue)
	wg.Wait()
	var all error
	for range s.workers {
		all = errors.Join(all, <-errs)
	}
	return all
}

// do runs one task, and the reap that the seed adds.
func (s *soak) do(ctx context.Context, a assignment) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	how := s.perform
	if a.inside {
		how = s.inside.perform
	}
	e, err := how(ctx, a, s.repos[a.repo])
	if err != nil {
		return fmt.Errorf("task %s: %w", a.id, err)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.outcomes.ended(a, e)
	if !a.reap {
		return nil
	}
	return s.reap(ctx, a)
}

// reap runs the program's reap, and kills it where the seed says so.
func (s *soak) reap(ctx context.Context, a assignment) error {
	c := s.main.command(ctx, "reap")
	if !a.hurtReap {
		out, err := c.CombinedOutput()
		if err != nil {
			s.outcomes.violate(unexpected, "reap after %s: %v: %.500s", a.id, err, out)
		}
		return context.Cause(ctx)
	}
	if err := c.Start(); err != nil {
		return err
	}
	stop := time.AfterFunc(a.after/8, func() { _ = c.Process.Kill() })
	_ = c.Wait() // killed, or done before that
	stop.Stop()
	return context.Cause(ctx)
}

// liveBeside works in another state directory until over is closed. What happens to the main one must not affect it,
// so every task of it must succeed.
func (s *soak) liveBeside(ctx context.Context, over <-chan struct{}, part int) {
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		default:
		}
		a := assignment{id: fmt.Sprintf("beside-%d-%d", part, i), repo: i % len(s.repos), kind: besideKind, disturbance: leftAlone}
		e, err := performAt(ctx, s.beside, a, s.repos[a.repo])
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.outcomes.violate(unexpected, "%s: %v", a.id, err)
			return
		}
		s.outcomes.ended(a, e)
		if i%5 == 4 {
			if out, err := s.beside.command(ctx, "reap").CombinedOutput(); err != nil {
				s.outcomes.violate(unexpected, "reap after %s: %v: %.500s", a.id, err, out)
			}
		}
	}
}
