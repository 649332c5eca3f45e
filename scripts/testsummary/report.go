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

// report is what has been printed so far and what is still running.
type report struct {
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

func newReport(out io.Writer) *report {
	return &report{out: out, start: time.Now(), running: map[string]*pkg{}, passed: map[failure]bool{}}
}

// line takes one line of input; what is not an event is passed on.
func (r *report) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		r.printf("%s", line)
		return
	}
	if e.Action == "build-output" {
		r.printf("%s", e.Output)
	}
	if e.Package == "" {
		return
	}
	p := r.running[e.Package]
	if p == nil {
		p = &pkg{name: e.Package, tests: map[string]*test{}}
		r.running[e.Package] = p
	}
	p.add(e)
	if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
		delete(r.running, e.Package)
		r.close(p, e)
	}
}

// close reports how a package ended.
func (r *report) close(p *pkg, e event) {
	v := p.verdict(e.Action == "fail")
	for _, output := range v.outputs {
		r.printf("%s", output)
	}
	r.total.passed += v.passed
	r.total.failed += v.failed
	r.total.skipped += v.skipped
	for _, f := range v.passes {
		r.passed[f] = true
	}
	r.failed = append(r.failed, v.failures...)
	r.broken = r.broken || v.broken
	r.skipped = append(r.skipped, v.skips...)
	r.timed = append(r.timed, v.timed...)
	if v.counts == (counts{}) {
		r.printf("--   %s: no tests\n", p.name)
		return
	}
	word := "ok  "
	if v.failed > 0 {
		word = "FAIL"
	}
	r.printf("%s %s: %s (%.1f s)\n", word, p.name, v.counts, e.Elapsed)
}

// alive prints what is running.
func (r *report) alive() {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.running)) {
		names = append(names, fmt.Sprintf("%s (%d)", name, r.running[name].finished))
	}
	if len(names) == 0 {
		names = []string{"compiling"}
	}
	r.printf("…    %d s: %s\n", int(time.Since(r.start).Seconds()), strings.Join(names, ", "))
}

// cut counts packages without an end as failed.
func (r *report) cut() {
	for _, name := range slices.Sorted(maps.Keys(r.running)) {
		r.close(r.running[name], event{Action: "fail"})
	}
}

// end prints the summary and reports whether every test passed.
func (r *report) end() bool {
	var failed []string
	for _, f := range r.failed {
		failed = append(failed, f.String())
	}
	r.list("slowest:", r.slowest())
	r.list("SKIPPED, so not tested here:", together(r.skipped))
	r.list("FAILED ONCE, PASSED ALONE:", r.alone)
	if len(r.alone) > 0 {
		r.printf("  counted neither as passed nor as failed (%d); each is a defect to find\n", len(r.alone))
	}
	r.list("FAILED:", failed)
	r.printf("\n%s\n", r.total)
	return r.total.failed == 0 && r.total.passed > 0
}

// slowest names the ten tests that took longest.
func (r *report) slowest() []string {
	slices.SortStableFunc(r.timed, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	var lines []string
	for _, t := range r.timed[:min(10, len(r.timed))] {
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

func (r *report) list(title string, entries []string) {
	if len(entries) == 0 {
		return
	}
	r.printf("\n%s\n", title)
	for _, entry := range entries {
		r.printf("  %s\n", entry)
	}
}

// printf writes to a terminal or a log. An error has nowhere to be reported.
func (r *report) printf(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format, args...) }
