package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
)

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

// secondTry runs each failed test once more, alone, when there are at most so
// many, and moves those that pass now to the list of what passed alone. A failure
// that is not a test's own (see verdict) leaves things as they are.
func (s *story) secondTry(events io.Writer, most int, command []string) error {
	var tops []failure
	for _, f := range s.failed {
		if !slices.Contains(tops, f.top()) {
			tops = append(tops, f.top())
		}
	}
	if s.broken || len(tops) == 0 || len(tops) > most {
		return nil
	}
	for _, top := range tops {
		s.printf("\nonce more, alone: %s\n", top)
		second := newStory(s.out)
		only := []string{"-run", "^" + regexp.QuoteMeta(top.test) + "$", top.pkg}
		code, err := tell(second, events, slices.Concat(command, only))
		if err != nil {
			return err
		}
		if code != 0 || second.total.failed > 0 {
			continue
		}
		s.failed = slices.DeleteFunc(s.failed, func(f failure) bool {
			if f.top() != top || !second.passed[f] {
				return false
			}
			s.alone = append(s.alone, f.String())
			s.total.failed--
			return true
		})
	}
	return nil
}
