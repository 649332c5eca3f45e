package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ran makes a run from lines such as "a.js > one pass"; a line without " > " is a unit.
func ran(passed bool, lines ...string) *Measured {
	var b strings.Builder
	b.WriteString(`{"e":"begin"}` + "\n")
	for _, l := range lines {
		ended, why, _ := strings.Cut(l, ": ")
		at := strings.LastIndexByte(ended, ' ')
		unit, name, _ := strings.Cut(ended[:at], " > ")
		fmt.Fprintf(&b, `{"e":"test","u":%q,"n":%q,"s":%q,"w":%q}`+"\n", unit, name, ended[at+1:], why)
	}
	b.WriteString(`{"e":"end"}`)
	return &Measured{Passed: passed, Report: ReadReport([]byte(b.String()))}
}

func mute(passed bool, output string) *Measured { return &Measured{Passed: passed, Output: output} }

func TestWhatAGreenCommandIsWorth(t *testing.T) {
	t.Parallel()
	touched, added := Surface{Touched: []string{"a.test.js"}}, Surface{NewTests: []string{"n.test.js"}}
	two := ran(true, "a > 1 pass", "a > 2 pass")
	for name, tt := range map[string]struct {
		now, base, restored *Measured
		s                   Surface
		want                Verdict
		harness, noTests    bool
		says                string
	}{
		"no reports":                               {now: mute(true, ""), want: Stands},
		"all green":                                {now: two, base: two, want: Stands},
		"a red test behind a green exit":           {now: ran(true, "a > 1 pass", "a > 2 fail"), base: two, want: Refuted, says: "a > 2"},
		"a red test behind it without a base":      {now: ran(true, "a > 2 fail"), want: Refuted},
		"a test that was red before":               {now: ran(true, "a > 1 pass", "a > 2 fail"), base: ran(true, "a > 1 pass", "a > 2 fail"), want: Stands},
		"no test any more":                         {now: ran(true), base: two, want: Refuted, says: "any more: a"},
		"no test at all":                           {now: ran(true), want: Unproven, noTests: true},
		"only skipped ones":                        {now: ran(true, "a > 1 skip"), want: Unproven, noTests: true},
		"a runner that ended early":                {now: &Measured{Passed: true, Report: ReadReport([]byte(`{"e":"begin"}` + "\n" + `{"e":"test","u":"a","n":"1","s":"pass"}`))}, want: Unproven, says: "summary"},
		"a vanished test":                          {now: ran(true, "a > 1 pass"), base: two, want: Unproven, says: "did not run"},
		"all tests of a file vanished":             {now: ran(true, "a pass"), base: two, want: Refuted, says: "any more: a"},
		"a vanished test beside a new one":         {now: ran(true, "a > 1 pass"), base: two, s: added, want: Unproven, harness: true},
		"a test skipped by the sources":            {now: ran(true, "a > 1 pass", "a > 2 skip"), base: two, want: Unproven},
		"nothing to compare with":                  {now: two, s: touched, want: Unproven, harness: true, says: "no time"},
		"weakened":                                 {now: two, base: two, restored: ran(false, "a > 1 pass", "a > 2 fail: 1 !== 2"), s: touched, want: Refuted, harness: true, says: "a > 2"},
		"red before, and made green by its test":   {now: two, base: ran(false, "a > 1 pass", "a > 2 fail"), restored: ran(false, "a > 1 pass", "a > 2 fail"), s: touched, want: Refuted, harness: true},
		"red before, fixed, and its test extended": {now: two, base: ran(false, "a > 1 pass", "a > 2 fail"), restored: two, s: touched, want: Stands},
		"already red everywhere":                   {now: ran(true, "a > 1 pass", "a > 2 fail"), base: ran(true, "a > 1 pass", "a > 2 fail"), restored: ran(true, "a > 1 pass", "a > 2 fail"), s: touched, want: Stands},
		"tests stop running":                       {now: two, base: two, restored: ran(true, "a > 1 pass"), s: touched, want: Refuted, harness: true, says: "do not run"},
		"tests have other names each time":         {now: two, base: ran(true, "a > 1 pass", "a > port 1 pass"), restored: ran(true, "a > 1 pass", "a > port 2 pass"), s: touched, want: Unproven, harness: true},
		"tests are skipped there":                  {now: two, base: two, restored: ran(true, "a > 1 pass", "a > 2 skip"), s: touched, want: Refuted, harness: true},
		"tests that had to change with the code":   {now: two, base: two, restored: ran(false, "a > 1 pass", "a > 2 fail: TypeError: l.add is not a function"), s: touched, want: Unproven, harness: true},
		"a file that cannot be loaded":             {now: two, base: two, restored: ran(false, "a fail: Error: Cannot find module './x'"), s: touched, want: Unproven, harness: true},
		"stricter":                                 {now: two, base: two, restored: two, s: touched, want: Stands, says: "2 tests of the base"},
		"a new test needs the new fixture":         {now: two, base: ran(true, "a > 1 pass"), restored: ran(false, "a > 1 pass", "a > 2 fail: x"), s: touched, want: Stands},
		"a lowered threshold":                      {now: two, base: two, restored: ran(false, "a > 1 pass", "a > 2 pass"), s: touched, want: Refuted, harness: true, says: "although no test is"},
		"a script that was emptied":                {now: mute(true, ""), base: two, restored: ran(false, "a > 1 fail", "a > 2 pass"), s: touched, want: Refuted, harness: true},
		"a script that was emptied for nothing":    {now: mute(true, ""), base: two, restored: two, s: touched, want: Unproven, noTests: true},
		"by exit: weakened":                        {now: mute(true, ""), base: mute(true, ""), restored: mute(false, "1 != 2"), s: touched, want: Refuted, harness: true},
		"by exit: fits no more":                    {now: mute(true, ""), base: mute(true, ""), restored: mute(false, "ImportError: cannot import name"), s: touched, want: Unproven, harness: true},
		"by exit: red on both":                     {now: mute(true, ""), base: mute(false, ""), restored: mute(false, ""), s: touched, want: Unproven, harness: true},
		"by exit: stricter":                        {now: mute(true, ""), base: mute(true, ""), restored: mute(true, ""), s: touched, want: Stands},
		"the first tests of a tree":                {now: two, base: mute(false, ""), restored: mute(false, ""), s: touched, want: Stands},
	} {
		j := Compare(*tt.now, tt.base, tt.restored, tt.s, "there was no time")
		if j.Verdict != tt.want || j.Harness != tt.harness || j.NoTests != tt.noTests || !strings.Contains(j.Why, tt.says) || j.Verdict != Stands && j.Why == "" {
			t.Errorf("%s: %+v", name, j)
		}
	}
	if j := Compare(*ran(false, "a > 1 fail", "a > 2 pass", "a > 3 pass"), ran(false, "a > 1 pass", "a > 2 fail", "a > 4 pass"), nil, Surface{}, ""); j.Verdict != Stands ||
		j.Tests != "3 tests: 2 passed, 1 failed, 0 skipped (beside the base: 1 fixed, 1 regressed, 1 new, 1 vanished)" {
		t.Errorf("a red command: %+v", j)
	}
}

func TestReportsOfStrangersAreBounded(t *testing.T) {
	t.Parallel()
	r := ReadReport([]byte("nonsense\n" + `{"e":"begin"}` + "\n" + `{"e":"test","u":"a","n":"x","s":"great"}` + "\n" + `{"e":"end"}`))
	if r.Whole() || len(r.Tests) != 0 || !r.Known() {
		t.Errorf("%+v", r)
	}
	var b strings.Builder
	for i := range maxReportTests + 10 {
		fmt.Fprintf(&b, `{"e":"test","u":"a","n":"%d","s":"pass"}`+"\n", i)
	}
	if r := ReadReport([]byte(b.String())); !r.Cut || len(r.Tests) != maxReportTests {
		t.Errorf("%d tests, cut %t", len(r.Tests), r.Cut)
	}
	twice := ran(true, "a > 1 fail", "a > 1 pass")
	if got := twice.Report.Tests["a > 1"].State; got != Failed {
		t.Errorf("a name that failed and passed: %s", got)
	}
	long := ran(true, "a > "+strings.Repeat("n", 10_000)+" fail: "+strings.Repeat("w", 10_000))
	for name, res := range long.Report.Tests {
		if len(name) > 2*maxReportName || len(res.Why) > 2*maxReportWhy {
			t.Errorf("name of %d bytes, reason of %d", len(name), len(res.Why))
		}
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add([]byte(`{"e":"begin"}` + "\n" + `{"e":"test","u":"a","n":"1","s":"pass"}` + "\n" + `{"e":"end"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := Measured{Passed: true, Report: ReadReport(text)}
		for _, r := range []*Measured{nil, {Report: ReadReport(text[:len(text)/2])}} {
			j := Compare(m, &m, r, Surface{Touched: []string{"x"}}, "late")
			if len(j.Why) > 20_000 || !slices.Contains([]Verdict{Stands, Refuted, Unproven}, j.Verdict) {
				t.Errorf("%+v", j)
			}
		}
	})
}
