package report

import (
	"encoding/xml"
	"strings"

	"sandboxrun/runner/document"
)

// part is one list of verdicts.
type part struct {
	name, title string
	list        []document.Judged
}

func (v *view) judged() []part {
	return []part{{"acceptance", "Acceptance", v.Acceptance}, {"constraints", "Constraints", v.Constraints}}
}

type testSuites struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Suites   []testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Failure *message `xml:"failure,omitempty"`
	Error   *message `xml:"error,omitempty"`
	Skipped *message `xml:"skipped,omitempty"`
}

type message struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit has a suite for the run itself, one for the acceptance criteria and one for the constraints. What nothing could
// verify is skipped, never passed.
func junit(v *view) ([]byte, error) {
	run := testSuite{Name: "run", Cases: []testCase{{Name: "the run", Class: "run"}}}
	only := &run.Cases[0]
	switch {
	case v.Failure != nil:
		only.Error = &message{Message: v.heading(), Text: v.Failure.Message + "\n" + v.Failure.Hint}
	case v.Status != document.StatusSuccess:
		lines := []string{v.Summary}
		for _, i := range v.Issues {
			lines = append(lines, i.Code+": "+i.Description)
		}
		only.Failure = &message{Message: v.heading(), Text: strings.Join(lines, "\n")}
	}
	all := testSuites{Name: "sandboxrun", Suites: []testSuite{run}}
	for _, p := range v.judged() {
		s := testSuite{Name: p.name}
		for _, j := range p.list {
			c := testCase{Name: j.Text, Class: p.name}
			switch j.Verdict {
			case "pass":
			case "fail":
				c.Failure = &message{Message: "fail", Text: j.Evidence}
			default:
				c.Skipped = &message{Message: j.Verdict, Text: j.Evidence}
			}
			s.Cases = append(s.Cases, c)
		}
		all.Suites = append(all.Suites, s)
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		for _, c := range s.Cases {
			s.Tests++
			if c.Failure != nil {
				s.Failures++
			}
			if c.Error != nil {
				s.Errors++
			}
			if c.Skipped != nil {
				s.Skipped++
			}
		}
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
