package modelserver

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestStepsExpectWhatWasSaid(t *testing.T) {
	t.Parallel()
	overWires(t, func(t *testing.T, sp speaker) {
		s := start(t,
			Step{Expect: "first", Text: "the user"}, Step{Expect: "hm", Text: "the model"},
			Step{Expect: "list it", Text: "a call"}, Step{Expect: "a file", Text: "a result"},
			Step{Expect: "be good", Text: "the system prompt"})
		for _, want := range []string{"the user", "the model", "a call", "a result"} {
			if got := sp.hear(t, sp.ask(t, s, true)); got.text != want {
				t.Errorf("answer = %+v, want %s", got, want)
			}
		}
		for range 2 {
			r := sp.ask(t, s, true)
			v := decode(t, r.Body)
			if message := str(object(v["error"])["message"]); r.StatusCode != http.StatusBadRequest || !strings.Contains(message, `"be good"`) {
				t.Errorf("answer = %d %v", r.StatusCode, v)
			}
		}
		missing := `step 4: the conversation does not hold "be good"`
		if got := s.Failures(); !reflect.DeepEqual(got, []string{missing, missing}) || s.Remaining() != 1 {
			t.Errorf("failures = %q, %d steps remain", got, s.Remaining())
		}
	})
}

func TestScriptsAreExtendedWhileTheyRun(t *testing.T) {
	t.Parallel()
	sp := speakers()[0]
	given := make([]Step, 1, 9) // room that is not the server's to write to
	given[0] = Step{Text: "one"}
	s := start(t, given...)
	s.Append(Step{Text: "two"})
	if given[:2][1].Text != "" || s.Remaining() != 2 {
		t.Errorf("%d steps remain, the caller's are %+v", s.Remaining(), given[:2])
	}
	for _, want := range []string{"one", "two", "The script has ended."} {
		if got := sp.hear(t, sp.ask(t, s, true)); got.text != want {
			t.Errorf("answer = %+v, want %s", got, want)
		}
	}
	s.Append(Step{Text: "three"}, Step{Text: "four"})
	if got := sp.hear(t, sp.ask(t, s, true)); got.text != "three" || s.Remaining() != 1 {
		t.Errorf("answer = %+v, %d steps remain", got, s.Remaining())
	}
}

func TestAppendRefusesBadSteps(t *testing.T) {
	t.Parallel()
	s := start(t)
	defer func() {
		if recover() == nil || s.Remaining() != 0 {
			t.Errorf("the step was taken, %d remain", s.Remaining())
		}
	}()
	s.Append(Step{Fault: &Fault{Status: 200}})
}
