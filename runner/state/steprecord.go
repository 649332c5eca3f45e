package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

// maxSteps bounds how much of a journal of steps is read, in bytes. A run writes some kilobytes, and a hundred bytes
// more for each object it lands.
const maxSteps = 64 << 20

// stepRecord is the content of a dead run's journal of steps: what may exist.
type stepRecord struct {
	Base    gitdiff.Commit // zero where the run had none yet
	Tree    string         // captured; "" where none was
	Landing LandingRecord
	asked   map[string]time.Duration // requests without an answer of the engine, by time since boot
}

// LandingRecord is a landing that has begun.
type LandingRecord struct {
	Commit, Branch string
	Done           bool // the dead run recorded that the branch was made
}

// Steps reads the journal of steps. A missing one is empty; lines that a death cut short are skipped.
func (d *RunDir) Steps() (stepRecord, error) {
	r := stepRecord{asked: map[string]time.Duration{}}
	text, err := document.ReadSmall(d.stepsPath(), maxSteps)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("read journal of steps: %w", err)
	}
	boot, now := "", bootID()
	for raw := range bytes.Lines(text) {
		var l stepLine
		if json.Unmarshal(raw, &l) != nil {
			continue
		}
		if l.Instance != "" {
			boot = l.Boot
		}
		r.take(l, boot != "" && boot == now)
	}
	return r, nil
}

// take adds one line. After a restart of the machine, earlier requests to the engine no longer count.
func (r *stepRecord) take(l stepLine, thisBoot bool) {
	switch l.Fact {
	case FactBase:
		r.takeBase(strings.Fields(l.Value))
	case factTree:
		r.Tree = l.Value
	}
	switch l.Step {
	case land.StepStage, land.StepRefLock, land.StepRef:
		commit, branch, ok := land.LandingOf(l.About)
		if !ok {
			return
		}
		done := l.Step == land.StepRef && l.Side == step.SideAfter && !l.Failed
		r.Landing = LandingRecord{Commit: commit, Branch: branch, Done: done}
	case sandbox.StepVolume, sandbox.StepCreate:
		if l.Side == step.SideBefore && thisBoot {
			r.asked[l.About] = time.Duration(l.Mono)
		} else {
			delete(r.asked, l.About)
		}
	}
}

func (r *stepRecord) takeBase(words []string) {
	if len(words) != 3 {
		return
	}
	when, err := time.Parse(time.RFC3339, words[2])
	if err != nil {
		return
	}
	r.Base = gitdiff.Commit{ID: words[0], Tree: words[1], Time: when}
}
