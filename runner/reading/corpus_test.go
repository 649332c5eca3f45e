package reading

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// sample is one sentence of the corpus with the reading it must have.
type sample struct{ want, sentence, why string }

// corpusFile reads a file of sentences.
func corpusFile(t *testing.T, name string) (list []sample) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) != 3 {
			t.Fatalf("%q: want three parts", line)
		}
		list = append(list, sample{parts[0], parts[1], parts[2]})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// notation writes a reading as the corpus does.
func notation(r Reading) string {
	if len(r.Checks) == 0 {
		return "unread"
	}
	var parts []string
	for _, c := range r.Checks {
		switch {
		case c.Command == "":
			parts = append(parts, c.Kind+string(c.Params))
		case c.Exit() == 0:
			parts = append(parts, "$"+c.Command)
		default:
			parts = append(parts, fmt.Sprintf("$%s=%d", c.Command, c.Exit()))
		}
	}
	if r.Rest != "" {
		parts = append(parts, "rest")
	}
	return strings.Join(parts, " + ")
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	list := corpusFile(t, "testdata/corpus.txt")
	if len(list) < 250 {
		t.Errorf("the corpus has %d sentences, want 250", len(list))
	}
	for _, s := range list {
		r := Default().Read("/constraints/0", s.sentence)
		if got := notation(r); got != s.want {
			t.Errorf("%q (%s):\n  read as %s; %s\n  want    %s", s.sentence, s.why, got, r.Reason, s.want)
		}
		for _, c := range r.Checks {
			if _, known := paramsOf(c.Kind); known && c.Unmeasured != "" {
				t.Errorf("%q: %s is no constraint of a task: %s", s.sentence, c.Object(), c.Unmeasured)
			}
		}
		if (r.Rest == s.sentence) != (len(r.Checks) == 0) {
			t.Errorf("%q: rest %q", s.sentence, r.Rest)
		}
	}
}
