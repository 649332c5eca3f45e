package harness

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/runner/excerpt"
)

// Measured is one run of a command.
type Measured struct {
	Passed bool   // it ended with the expected exit code
	Report Report // of the runners that it started
	Output string // excerpts of what it printed; it can only make a verdict less certain
}

// Verdict is what a green command is worth.
type Verdict int

// Verdicts of a comparison.
const (
	Stands   Verdict = iota // the exit code means what it says
	Refuted                 // tests that the command stands for are red or do not run
	Unproven                // what was measured does not show it
)

// Judgement is the verdict over a command that ended as expected, and over the tests of any.
type Judgement struct {
	Verdict Verdict
	Harness bool   // tests, scripts or configuration that the change touches are the reason
	NoTests bool   // its runner found no test
	Why     string // the reason, fit to be shown; "" where the command stands and there is nothing to say
	Tests   string // counts of tests, "" where no runner reported any
}

// Compare judges a command by its run on the change, that on the base, and that on the change with the base's surface. The latter two are
// nil where there was no such run; late is why.
func Compare(now Measured, base, restored *Measured, s Surface, late string) Judgement {
	j := Judgement{Tests: counts(&now.Report, base)}
	if !now.Passed {
		return j
	}
	if now.Report.Known() && !now.Report.Whole() {
		return j.as(Unproven, "its test runner ended before it reported a summary")
	}
	if now.Report.Known() && len(now.Report.Tests)+len(now.Report.Units) == now.Report.Count(Skipped) {
		if base != nil && len(s.Touched) == 0 {
			if silent := silenced(&base.Report, &now.Report); len(silent) > 0 {
				return j.as(Refuted, "no test of these files or packages runs any more: "+names(silent))
			}
		}
		j.NoTests = true
		return j.as(Unproven, "its test runner ran no test")
	}
	if red := hiddenRed(&now.Report, base); len(red) > 0 {
		return j.as(Refuted, "its test runner reports red tests all the same: "+names(red))
	}
	if len(s.Touched) > 0 {
		return j.withRestored(now, base, restored, s, late)
	}
	if base == nil || !base.Report.Whole() {
		return j
	}
	if lost := missing(&base.Report, &now.Report); len(lost) > 0 {
		j.Harness = len(s.NewTests) > 0
		if silent := silenced(&base.Report, &now.Report); len(silent) > 0 {
			return j.as(Refuted, "no test of these files or packages runs any more: "+names(silent))
		}
		return j.as(Unproven, "tests that pass on the base did not run: "+names(lost))
	}
	return j
}

func (j Judgement) as(v Verdict, why string) Judgement {
	j.Verdict, j.Why = v, why
	return j
}

// withRestored judges a command whose surface the change touches.
func (j Judgement) withRestored(now Measured, base, restored *Measured, s Surface, late string) Judgement {
	touched := "the change touches what decides how it ends (" + names(s.Touched) + ")"
	j.Harness = true
	if base == nil || restored == nil {
		return j.as(Unproven, touched+", and "+late)
	}
	if !base.Report.Known() || len(base.Report.Tests)+len(base.Report.Units) == 0 {
		return j.byExit(now, base, restored, touched)
	}
	var red, gone, odd []string
	for _, name := range sorted(&base.Report) {
		was, _ := base.Report.state(name)
		if was.State == Skipped {
			continue
		}
		is, ran := restored.Report.state(name)
		unit, alone := restored.Report.unitOf(name)
		switch {
		case ran && is.State == Passed:
		case ran && is.State == Failed && (is.Build || notBuilt.MatchString(is.Why)):
			odd = append(odd, name)
		case ran && is.State == Failed && was.State == Passed:
			red = append(red, name)
		case ran && is.State == Failed: // red on the base, and without the change of the tests it still is
			if after, ok := now.Report.state(name); !ok || after.State != Failed {
				red = append(red, name)
			}
		case alone && unit.State == Failed && (unit.Build || notBuilt.MatchString(unit.Why)):
			odd = append(odd, name)
		case was.State == Passed:
			gone = append(gone, name)
		}
	}
	with := " with the tests and configuration of the base "
	switch {
	case len(red) > 0:
		return j.as(Refuted, touched+", and"+with+"these tests are red: "+names(red))
	case len(odd) > 0:
		return j.as(Unproven, touched+", and"+with+"these tests cannot be built or loaded over the new sources: "+names(odd))
	case len(gone) > 0 && restored.Report.ran() >= base.Report.ran():
		return j.as(Unproven, touched+", and"+with+"tests have other names: "+names(gone))
	case len(gone) > 0:
		return j.as(Refuted, touched+", and"+with+"these tests do not run: "+names(gone))
	case !restored.Passed && base.Passed && restored.Report.Count(Failed) == 0:
		return j.as(Refuted, touched+", and"+with+"the command is red although no test is")
	}
	j.Harness = false
	if !now.Report.Known() {
		j.NoTests = true
		return j.as(Unproven, touched+", and it runs no test that is reported any more; on the base it runs "+excerpt.Plural(base.Report.ran(), "test"))
	}
	return j.as(Stands, fmt.Sprintf("with the tests and configuration of the base all %s pass as well",
		excerpt.Plural(base.Report.Count(Passed), "test")+" of the base"))
}

// byExit judges where no runner reported tests: there are exit codes only.
func (j Judgement) byExit(now Measured, base, restored *Measured, touched string) Judgement {
	switch {
	case restored.Passed:
		j.Harness = false
		return j.as(Stands, "also with the tests and configuration of the base")
	case notBuilt.MatchString(restored.Output):
		return j.as(Unproven, touched+", and what the base has of it does not fit the new sources")
	case base.Passed:
		return j.as(Refuted, touched+", and with what the base has of it the command is red")
	case now.Report.Whole() && now.Report.Count(Passed) > 0 && !base.Report.Known():
		j.Harness = false
		return j.as(Stands, "the base has no such tests")
	}
	return j.as(Unproven, touched+", and with what the base has of it the command is red, as it is on the base")
}

// notBuilt recognises what compilers and loaders say when tests name what the sources no longer have, or have in another form.
var notBuilt = regexp.MustCompile(`(?i)cannot find (module|package|symbol|name)|is not a (function|constructor)|does not provide an export|module not found|no such module|` +
	`ImportError|ModuleNotFoundError|has no attribute|AttributeError|NameError|unexpected keyword argument|takes \d+ positional|missing \d+ required positional|` +
	`undefined: |undefined reference|undeclared|build failed|setup failed|not enough arguments in call|too many arguments in call|cannot use .{1,200} as |has no field or method|` +
	`unresolved import|cannot find (value|function|type|struct|macro)|error\[E\d+\]|error TS\d+|NoMethodError|uninitialized constant|Cannot read properties of undefined|ReferenceError|no rule to make target|unknown field`)

// hiddenRed lists the tests that are red although the command is not. What was red on the base before is none of the change's.
func hiddenRed(now *Report, base *Measured) []string {
	var list []string
	for _, name := range sorted(now) {
		if is, _ := now.state(name); is.State != Failed {
			continue
		}
		if base != nil {
			if was, ok := base.Report.state(name); ok && was.State == Failed {
				continue
			}
		}
		list = append(list, name)
	}
	return list
}

// missing lists the tests that passed in one report and did not run in another.
func missing(base, now *Report) []string {
	var list []string
	for _, name := range sorted(base) {
		was, _ := base.state(name)
		is, ran := now.state(name)
		if was.State == Passed && (!ran || is.State == Skipped) && base.Tests[name].State != "" {
			list = append(list, name)
		}
	}
	return list
}

// silenced lists the files and packages that had tests that passed, and have none any more: something ends them before their tests.
func silenced(base, now *Report) []string {
	runs := map[string]bool{}
	for name, r := range now.Tests {
		unit, _, _ := strings.Cut(name, " > ")
		runs[unit] = runs[unit] || r.State != Skipped
	}
	list := map[string]bool{}
	for name, r := range base.Tests {
		if unit, _, _ := strings.Cut(name, " > "); r.State == Passed && !runs[unit] {
			list[unit] = true
		}
	}
	return slices.Sorted(maps.Keys(list))
}

// sorted are the names of all tests and units of a report.
func sorted(r *Report) []string {
	return slices.Sorted(maps.Keys(merge(r.Tests, r.Units)))
}

func merge(a, b map[string]Result) map[string]Result {
	m := maps.Clone(a)
	if m == nil {
		m = map[string]Result{}
	}
	maps.Copy(m, b)
	return m
}

// counts says how many tests ended how, and what that is beside the base.
func counts(now *Report, base *Measured) string {
	if !now.Known() {
		return ""
	}
	text := fmt.Sprintf("%s: %d passed, %d failed, %d skipped", excerpt.Plural(len(now.Tests)+len(now.Units), "test"), now.Count(Passed), now.Count(Failed), now.Count(Skipped))
	if base == nil || !base.Report.Known() {
		return text
	}
	n := map[string]int{}
	for _, name := range sorted(now) {
		is, _ := now.state(name)
		was, ok := base.Report.state(name)
		switch {
		case !ok:
			n["new"]++
		case is.State == Passed && was.State == Failed:
			n["fixed"]++
		case is.State == Passed && was.State == Passed:
			n["still green"]++
		case is.State == Failed && was.State == Failed:
			n["already red"]++
		case is.State == Failed:
			n["regressed"]++
		}
	}
	for _, name := range sorted(&base.Report) {
		if _, ok := now.state(name); !ok {
			n["vanished"]++
		}
	}
	var parts []string
	for _, what := range []string{"fixed", "still green", "regressed", "already red", "new", "vanished"} {
		if n[what] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[what], what))
		}
	}
	if parts == nil {
		return text
	}
	return text + " (beside the base: " + strings.Join(parts, ", ") + ")"
}

// names shows the first of a list of names of strangers.
func names(list []string) string {
	const most = 3
	var shown []string
	for _, n := range list[:min(most, len(list))] {
		shown = append(shown, excerpt.Clip(excerpt.Printable(n), 200))
	}
	text := strings.Join(shown, ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
