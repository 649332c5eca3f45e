package reading

import (
	"regexp"
	"sync"
)

// sayings are the expressions of what agents say about what they ran.
var sayings = sync.OnceValue(func() map[string]*regexp.Regexp {
	m := map[string]*regexp.Regexp{}
	for _, name := range []string{"said_failed", "said_no_failure", "said_passed", "said_ran", "said_tests"} {
		m[name] = regexp.MustCompile(`(?i)` + loadTable().expand("{"+name+"}"))
	}
	return m
})

// Said is what a line of an agent claims of what the line is about: "passed", "failed", "ran", or "" for nothing. It looks for words,
// so it serves only to put a claim beside a measurement, never in its place.
func Said(line string) string {
	bare := sayings()["said_no_failure"].ReplaceAllString(line, "")
	switch {
	case sayings()["said_failed"].MatchString(bare):
		return "failed"
	case sayings()["said_passed"].MatchString(line), bare != line:
		return "passed"
	case sayings()["said_ran"].MatchString(line):
		return "ran"
	}
	return ""
}

// OfTests says that a line speaks of tests.
func OfTests(line string) bool { return sayings()["said_tests"].MatchString(line) }
