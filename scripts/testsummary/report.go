package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// story is what has been told so far and what is still running.
type story struct {
	out            io.Writer
	start          time.Time
	running        map[string]*pkg
	total          counts
	passed         map[failure]bool
	failed         []failure
	broken         bool // a second try of the failed tests would not prove that all is well
	alone, skipped []string
	timed          []timed
}

func newStory(out io.Writer) *story {
	return &story{out: out, start: time.Now(), running: map[string]*pkg{}, passed: map[failure]bool{}}
}

// line takes one line of input; what is not an event is passed on.
func (s *story) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		s.printf("%s", line)
		return
	}
	if e.Action == "build-output" {
		s.printf("%s", e.Output)
	}
	if e.Package == "" {
		return
	}
	p := s.running[e.Package]
	if p == nil {
		p = &pkg{name: e.Package, tests: map[string]*test{}}
		s.running[e.Package] = p
	}
	p.add(e)
	if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
		delete(s.running, e.Package)
		s.close(p, e)
	}
}

// close tells how a package ended.
func (s *story) close(p *pkg, e event) {
	v := p.verdict(e.Action == "fail")
	for _, output := range v.outputs {
		s.printf("%s", output)
	}
	s.total.passed += v.passed
	s.total.failed += v.failed
	s.total.skipped += v.skipped
	for _, f := range v.passes {
		s.passed[f] = true
	}
	s.failed = append(s.failed, v.failures...)
	s.broken = s.broken || v.broken
	s.skipped = append(s.skipped, v.skips...)
	s.timed = append(s.timed, v.timed...)
	if v.counts == (counts{}) {
		s.printf("--   %s: no tests\n", p.name)
		return
	}
	word := "ok  "
	if v.failed > 0 {
		word = "FAIL"
	}
	s.printf("%s %s: %s (%.1f s)\n", word, p.name, v.counts, e.Elapsed)
}

// alive says what is running.
func (s *story) alive() {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.running)) {
		names = append(names, fmt.Sprintf("%s (%d)", name, s.running[name].finished))
	}
	if len(names) == 0 {
		names = []string{"compiling"}
	}
	s.printf("…    %d s: %s\n", int(time.Since(s.start).Seconds()), strings.Join(names, ", "))
}

// cut ends the packages of which no end was told.
func (s *story) cut() {
	for _, name := range slices.Sorted(maps.Keys(s.running)) {
		s.close(s.running[name], event{Action: "fail"})
	}
}

// end tells the rest and reports whether all was well.
func (s *story) end() bool {
	var failed []string
	for _, f := range s.failed {
		failed = append(failed, f.String())
	}
	s.list("slowest:", s.slowest())
	s.list("SKIPPED, so not proved here:", together(s.skipped))
	s.list("FAILED ONCE, PASSED ALONE:", s.alone)
	if len(s.alone) > 0 {
		s.printf("  counted neither as passed nor as failed (%d); each is a defect to find\n", len(s.alone))
	}
	s.list("FAILED:", failed)
	s.printf("\n%s\n", s.total)
	return s.total.failed == 0 && s.total.passed > 0
}

// slowest names the ten tests that took longest.
func (s *story) slowest() []string {
	slices.SortStableFunc(s.timed, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	var lines []string
	for _, t := range s.timed[:min(10, len(s.timed))] {
		lines = append(lines, fmt.Sprintf("%6.1f s  %s", t.seconds, t.title))
	}
	return lines
}

// chosen is how the reason of a skip ends that the caller asked for.
const chosen = "left out by -short"

// together joins the skips that the caller asked for into one line for each
// reason; every other skip keeps its own line.
func together(skips []string) []string {
	var lines []string
	counted := map[string]int{}
	for _, skip := range skips {
		if !strings.HasSuffix(skip, chosen) {
			lines = append(lines, skip)
			continue
		}
		parts := strings.SplitN(skip, ": ", 3) // test: file and line: reason
		counted[parts[len(parts)-1]]++
	}
	for _, reason := range slices.Sorted(maps.Keys(counted)) {
		lines = append(lines, fmt.Sprintf("%d tests: %s", counted[reason], reason))
	}
	return lines
}

func (s *story) list(title string, entries []string) {
	if len(entries) == 0 {
		return
	}
	s.printf("\n%s\n", title)
	for _, entry := range entries {
		s.printf("  %s\n", entry)
	}
}

// printf writes to a terminal or a log; there is nobody to tell when that fails.
func (s *story) printf(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }
