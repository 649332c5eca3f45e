package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"sandboxrun/cmd/sandboxrun/attack"
)

const (
	// selfTestBound is how long all attacks of the self-test may take together.
	selfTestBound = 3 * time.Minute
	// sceneBound is how long one of them may take.
	sceneBound = time.Minute
	// atOnce is how many boxes of the self-test there are at one time.
	atOnce = 2
)

// selfTestEnv are variables that say where the engine is.
var selfTestEnv = []string{"PATH", "DOCKER_HOST", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "TMPDIR"}

// selfTest makes attacks on this very machine, each as a task of this very
// program on a repository and with a state of its own, and says which got
// through. Nothing of the user's is touched.
func (p *program) selfTest(ctx context.Context, x *examination) []finding {
	lab, err := p.lab(ctx, x)
	if err != nil {
		f := caution("correct what failed above", "not made: %v", err)
		f.Name = "self-test"
		return []finding{f}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, selfTestBound, fmt.Errorf("no end within %s", selfTestBound))
	defer cancel()
	batches := append(attack.Batches(attack.Quick()), []attack.Attack{attack.Picture()})
	found := make([][]finding, len(batches))
	var all sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	for i, batch := range batches {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			outcomes, err := lab.Run(ctx, batch)
			found[i] = attackFindings(batch, outcomes, err)
		})
	}
	all.Wait()
	var list []finding
	for _, some := range found {
		list = append(list, some...)
	}
	if err := os.RemoveAll(lab.Dir); err != nil {
		f := caution("remove it", "%v", err)
		f.Name = "self-test"
		list = append(list, f)
	}
	return list
}

// lab prepares the place of the attacks, a new directory included.
func (p *program) lab(ctx context.Context, x *examination) (*attack.Lab, error) {
	if err := errors.Join(x.configErr, x.engineErr(ctx)); err != nil {
		return nil, err
	}
	if _, err := x.engine.Image(ctx, x.config.Box.Image); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("the repository to attack is made with git: %w", err)
	}
	self, err := guestBinary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sandboxrun-selftest-")
	if err != nil {
		return nil, err
	}
	l := &attack.Lab{Program: self, Dir: dir, Image: x.config.Box.Image, Runtime: x.config.Box.Runtime, Bound: sceneBound}
	for _, name := range selfTestEnv {
		if value := p.getenv(name); value != "" {
			l.Env = append(l.Env, name+"="+value)
		}
	}
	return l, nil
}

// attackFindings says how the attacks of one box ended.
func attackFindings(batch []attack.Attack, outcomes []attack.Outcome, err error) []finding {
	var list []finding
	add := func(id string, f finding) {
		f.Name = "attack " + id
		list = append(list, f)
	}
	if err != nil {
		for _, a := range batch {
			add(a.ID, fail(`see "sandboxrun doctor" without --self-test, and the engine's log`, "%s: could not be made: %v", a.Title, err))
		}
		return list
	}
	for _, o := range outcomes {
		switch {
		case o.State == attack.Held:
			add(o.ID, pass("%s: held", o.Title))
		case o.State == attack.Skipped:
			add(o.ID, caution("", "%s: not made: %s", o.Title, o.Detail))
		case o.ID == attack.Picture().ID:
			// What is there was not seen to be of use to anybody.
			add(o.ID, caution("compare with the engine's and the kernel's settings: a line with + is new in boxes here, one with - is missing",
				"%s: boxes here look different: %s", o.Title, o.Detail))
		default:
			add(o.ID, fail("run nothing you do not trust on this engine; update it and its runtime, or use --runtime runsc",
				"%s: got through: %s", o.Title, o.Detail))
		}
	}
	return list
}
