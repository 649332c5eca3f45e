package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxOutput bounds what is kept of one test's output, in bytes.
const maxOutput = 1 << 20

const (
	// allRan is what a package with failed tests prints once all its tests have
	// run. One that panicked, timed out or was ended has left some out.
	allRan = "\nFAIL\n"
	// race is in the output of a test, or of a package, in which the race detector found something.
	race = "race detected"
)

// pkg is one package under test.
type pkg struct {
	name     string
	tests    map[string]*test // by name; "" is the package itself
	finished int              // tests, for the sign of life
}

// test is one test or subtest.
type test struct {
	action  string  // its final one: pass, fail or skip
	seconds float64 // without the time it waited for parallel tests
	output  strings.Builder
}

// timed is how long a test without subtests took.
type timed struct {
	title   string
	seconds float64
}

// verdict is what a finished package comes to.
type verdict struct {
	counts
	passes         []failure // subtests' parents as well
	failures       []failure
	broken         bool // more failed than tests by themselves
	skips, outputs []string
	timed          []timed
}

func (p *pkg) add(e event) {
	t := p.tests[e.Test]
	if t == nil {
		t = &test{}
		p.tests[e.Test] = t
	}
	switch e.Action {
	case "output":
		if t.output.Len() < maxOutput {
			t.output.WriteString(e.Output)
		}
	case "pass", "fail", "skip":
		t.action, t.seconds = e.Action, e.Elapsed
		if e.Test != "" {
			p.finished++
		}
	}
}

// verdict counts the leaves of the tree of tests. A test that failed by itself,
// beside its subtests, counts as well, and so does a package that failed without
// a failing test: it did not build, or its TestMain ended it.
func (p *pkg) verdict(packageFailed bool) verdict {
	var v verdict
	names := slices.Sorted(maps.Keys(p.tests))
	for _, name := range names {
		if name == "" {
			continue
		}
		t, title := p.tests[name], p.name+"."+name
		subtests, failedSubtest := p.below(name)
		if !subtests {
			v.timed = append(v.timed, timed{title, t.seconds})
		}
		if t.action == "pass" {
			v.passes = append(v.passes, failure{p.name, name})
		}
		switch {
		case t.action == "fail" && !failedSubtest:
			v.failed++
			v.failures = append(v.failures, failure{p.name, name})
			v.broken = v.broken || strings.Contains(t.output.String(), race)
		case t.action == "" && !subtests:
			v.failed++
			v.failures = append(v.failures, failure{p.name, name + " (did not finish)"})
		case t.action == "skip" && !subtests:
			v.skipped++
			v.skips = append(v.skips, title+": "+reason(t.output.String()))
		case t.action == "pass" && !subtests:
			v.passed++
		}
		if t.action == "fail" || t.action == "" {
			v.outputs = append(v.outputs, t.output.String())
		}
	}
	if !packageFailed {
		return v
	}
	if v.failed == 0 {
		v.failed++
		v.failures = append(v.failures, failure{pkg: p.name})
		v.broken = true
	}
	var output string
	if own := p.tests[""]; own != nil {
		output = own.output.String()
		v.outputs = append(v.outputs, output)
	}
	v.broken = v.broken || !strings.Contains("\n"+output, allRan) || strings.Contains(output, race)
	return v
}

// below reports whether a test has subtests, and failed ones among them.
func (p *pkg) below(name string) (subtests, failed bool) {
	for other, t := range p.tests {
		if strings.HasPrefix(other, name+"/") {
			subtests = true
			failed = failed || t.action != "pass" && t.action != "skip"
		}
	}
	return subtests, failed
}

// reason is a skipped test's output without the lines of the test runner.
func reason(output string) string {
	var words []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			words = append(words, line)
		}
	}
	if len(words) == 0 {
		return "no reason given"
	}
	return strings.Join(words, " ")
}

// failure is what failed: a leaf of the tree of tests, a test by itself, or the package.
type failure struct{ pkg, test string }

func (f failure) String() string {
	if f.test == "" {
		return f.pkg + " (the package itself)"
	}
	return f.pkg + "." + f.test
}

// top is the test at the top of the tree, which -run can name.
func (f failure) top() failure {
	name, _, _ := strings.Cut(f.test, "/")
	return failure{f.pkg, name}
}

// counts are tests without subtests; a test that has some is counted by them.
type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// event is one line of `go test -json`, see `go doc test2json` and, for the build
// actions, `go help buildjson`.
type event struct {
	Action  string  `json:"Action"`
	Package string  `json:"Package"`
	Test    string  `json:"Test"`
	Output  string  `json:"Output"`
	Elapsed float64 `json:"Elapsed"` // seconds
}
