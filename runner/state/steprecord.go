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

// maxSteps bounds what is read of a journal of steps, in bytes. A run writes
// some kilobytes, and a hundred bytes more for each object it lands.
const maxSteps = 64 << 20

// stepRecord is what the journal of steps of a dead run tells: what may exist.
type stepRecord struct {
	Base    gitdiff.Commit // zero where the run had none yet
	Tree    string         // captured; "" where none was
	Landing LandingRecord
	asked   map[string]time.Duration // what the engine was asked for and had not answered, and when in the life of this machine
}

// LandingRecord is a landing that was begun.
type LandingRecord struct {
	Commit, Branch string
	Done           bool // the branch was made, by the dead run's own word
}

// Steps reads the journal of steps. One that is not there tells nothing; lines
// that a death cut short are passed over.
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

// take adds what one line tells. A machine that was started again since has
// forgotten every request.
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
