package harness

import (
	"bytes"
	"encoding/json"
	"strings"

	"sandboxrun/runner/excerpt"
)

// State is how a test ended.
type State string

// States of tests. Skipped is also a test that is marked as still to be done.
const (
	Passed  State = "pass"
	Failed  State = "fail"
	Skipped State = "skip"
)

// Result is what a runner reported of one test.
type Result struct {
	State State
	Why   string // what the runner says of a failure, bounded
	Build bool   // it failed before any of its code ran: it could not be built or loaded
}

// Report is what all runners that one command started reported.
type Report struct {
	Tests map[string]Result // by file or package and name
	Units map[string]Result // files and packages that ended by themselves, without a test of their own
	Runs  int               // runners that began
	Ended int               // of them, those that reported their own end
	Cut   bool              // there was more than is read
}

// Bounds of a report, which code of the box can write to.
const (
	MaxReportBytes = 8 << 20
	maxReportTests = 50_000
	maxReportName  = 500
	maxReportWhy   = 600
)

// Line is one line of a report, in the form that our recorders in the box write.
type Line struct {
	Event string `json:"e"`           // "begin", "end", or "test"
	Unit  string `json:"u,omitempty"` // file or package
	Name  string `json:"n,omitempty"` // of the test within it; "" for the unit itself
	State State  `json:"s,omitempty"`
	Why   string `json:"w,omitempty"`
	Build bool   `json:"b,omitempty"`
}

// Events of lines.
const (
	Begin = "begin"
	End   = "end"
	Tried = "test"
)

// ReadReport reads a report. It never fails: what is not a line of a report is left out, and the report is [Report.Cut] then.
func ReadReport(text []byte) Report {
	r := Report{Tests: map[string]Result{}, Units: map[string]Result{}}
	if len(text) > MaxReportBytes {
		text, r.Cut = text[:MaxReportBytes], true
	}
	for line := range bytes.Lines(text) {
		var l Line
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if json.Unmarshal(line, &l) != nil {
			r.Cut = true
			continue
		}
		switch l.Event {
		case Begin:
			r.Runs++
		case End:
			r.Ended++
		case Tried:
			r.add(l)
		default:
			r.Cut = true
		}
	}
	return r
}

func (r *Report) add(l Line) {
	if l.State != Passed && l.State != Failed && l.State != Skipped || len(r.Tests)+len(r.Units) >= maxReportTests {
		r.Cut = true
		return
	}
	to, name := r.Tests, excerpt.Clip(l.Unit+" > "+l.Name, maxReportName)
	if l.Name == "" {
		to, name = r.Units, excerpt.Clip(l.Unit, maxReportName)
	}
	res := Result{State: l.State, Why: excerpt.Clip(excerpt.Printable(l.Why), maxReportWhy), Build: l.Build}
	if old, again := to[name]; again && worse(old.State, res.State) { // a name that is there twice is as good as its worst test
		return
	}
	to[name] = res
}

func worse(a, b State) bool {
	rank := map[State]int{Passed: 0, Skipped: 1, Failed: 2}
	return rank[a] > rank[b]
}

// Known says that a runner reported anything.
func (r *Report) Known() bool { return r != nil && r.Runs > 0 }

// Whole says that every runner that began reported its end, and all of it was read.
func (r *Report) Whole() bool { return r.Known() && r.Ended >= r.Runs && !r.Cut }

// Count counts the tests that ended in a state, and the units without tests that did.
func (r *Report) Count(s State) int {
	n := 0
	for _, t := range r.Tests {
		if t.State == s {
			n++
		}
	}
	for _, u := range r.Units {
		if u.State == s {
			n++
		}
	}
	return n
}

// ran counts the tests and units that ran to an end.
func (r *Report) ran() int { return r.Count(Passed) + r.Count(Failed) }

// state is how a test or a unit ended; false where there is no word of it.
func (r *Report) state(name string) (Result, bool) {
	if t, ok := r.Tests[name]; ok {
		return t, true
	}
	u, ok := r.Units[name]
	return u, ok
}

// unitOf is what is reported of the file or package of a test.
func (r *Report) unitOf(name string) (Result, bool) {
	unit, _, _ := strings.Cut(name, " > ")
	u, ok := r.Units[unit]
	return u, ok
}
