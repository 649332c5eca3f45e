package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
	"sandboxrun/sandbox"
)

// maxSteps bounds what is read of a journal of steps, in bytes. A run writes
// some kilobytes, and a hundred bytes more for each object it lands.
const maxSteps = 64 << 20

// stepRecord is what the journal of steps of a dead run tells: what may exist.
type stepRecord struct {
	base    gitdiff.Commit // zero where the run had none yet
	tree    string         // captured; "" where none was
	landing landingRecord
	asked   map[string]time.Duration // what the engine was asked for and had not answered, and when in the life of this machine
}

// landingRecord is a landing that was begun.
type landingRecord struct {
	commit, branch string
	done           bool // the branch was made, by the dead run's own word
}

// steps reads the journal of steps. One that is not there tells nothing; lines
// that a death cut short are passed over.
func (d *RunDir) steps() (stepRecord, error) {
	r := stepRecord{asked: map[string]time.Duration{}}
	text, err := readSmall(d.stepsPath(), maxSteps)
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
	case factBase:
		r.takeBase(strings.Fields(l.Value))
	case factTree:
		r.tree = l.Value
	}
	switch l.Step {
	case gitdiff.StepStage, gitdiff.StepObjects, gitdiff.StepRefLock, gitdiff.StepRef:
		commit, branch, ok := gitdiff.LandingOf(l.About)
		if !ok {
			return
		}
		done := l.Step == gitdiff.StepRef && l.Side == step.After && !l.Failed
		r.landing = landingRecord{commit: commit, branch: branch, done: done}
	case sandbox.StepVolume, sandbox.StepCreate:
		if l.Side == step.Before && thisBoot {
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
	r.base = gitdiff.Commit{ID: words[0], Tree: words[1], Time: when}
}
