// Package selftest attacks this machine from inside boxes: a dozen attacks, each as a task of this very program.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/cmd/sandboxrun/doctor"
	"sandboxrun/cmd/sandboxrun/guest"
)

const (
	// selfTestBound is how long all attacks of the self-test may take together.
	selfTestBound = 3 * time.Minute
	// sceneBound is how long one group of them may take.
	sceneBound = time.Minute
	// atOnce is how many boxes of the self-test run at the same time.
	atOnce = 2
)

// pictureID is the attack that only compares a box with its expected picture.
const pictureID = "C15"

// selfTestEnv are variables that locate the engine.
var selfTestEnv = []string{"PATH", "DOCKER_HOST", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "TMPDIR"}

// Run makes attacks on this very machine, each as a task of this very program with a repository and a state of its
// own, and reports which succeeded. It touches none of the user's files.
func Run(ctx context.Context, x *doctor.Examination) []doctor.Finding {
	lab, err := newLab(ctx, x)
	if err != nil {
		f := doctor.Caution("correct what failed above", "not made: %v", err)
		f.Name = "self-test"
		return []doctor.Finding{f}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, selfTestBound, fmt.Errorf("not finished within %s", selfTestBound))
	defer cancel()
	batches := attack.Batches(Attacks())
	found := make([][]doctor.Finding, len(batches))
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
	var list []doctor.Finding
	for _, some := range found {
		list = append(list, some...)
	}
	if err := os.RemoveAll(lab.Dir); err != nil {
		f := doctor.Caution("remove it", "%v", err)
		f.Name = "self-test"
		list = append(list, f)
	}
	return list
}

// newLab prepares the attacks' new directory.
func newLab(ctx context.Context, x *doctor.Examination) (*attack.Lab, error) {
	if err := errors.Join(x.ConfigErr, x.EngineErr(ctx)); err != nil {
		return nil, err
	}
	if _, err := x.Engine.Image(ctx, x.Config.Box.Image); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("make the repository to attack with git: %w", err)
	}
	self, err := guest.Binary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sandboxrun-selftest-")
	if err != nil {
		return nil, err
	}
	l := &attack.Lab{Program: self, Dir: dir, Image: x.Config.Box.Image, Runtime: x.Config.Box.Runtime, Bound: sceneBound}
	for _, name := range selfTestEnv {
		if value := x.Getenv(name); value != "" {
			l.Env = append(l.Env, name+"="+value)
		}
	}
	return l, nil
}

// attackFindings reports how the attacks of one box ended.
func attackFindings(batch []attack.Attack, outcomes []attack.Outcome, err error) []doctor.Finding {
	var list []doctor.Finding
	add := func(id string, f doctor.Finding) {
		f.Name = "attack " + id
		list = append(list, f)
	}
	if err != nil {
		for _, a := range batch {
			add(a.ID, doctor.Fail(`see "sandboxrun doctor" without --self-test, and the engine's log`, "%s: could not be made: %v", a.Title, err))
		}
		return list
	}
	for _, o := range outcomes {
		switch {
		case o.State == attack.Held:
			add(o.ID, doctor.Pass("%s: held", o.Title))
		case o.State == attack.Skipped:
			add(o.ID, doctor.Caution("", "%s: not made: %s", o.Title, o.Detail))
		case o.ID == pictureID:
			// A difference was not shown to be useful to an attacker.
			add(o.ID, doctor.Caution("compare with the engine's and the kernel's settings: a line with + is new in boxes here, one with - is missing",
				"%s: boxes here differ from the expected picture: %s", o.Title, o.Detail))
		default:
			add(o.ID, doctor.Fail("run nothing you do not trust on this engine; update it and its runtime, or use --runtime runsc",
				"%s: got through: %s", o.Title, o.Detail))
		}
	}
	return list
}
