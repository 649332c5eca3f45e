package modelserver

import (
	"fmt"
	"net/http"
	"strings"
)

// Append adds steps to the end of the script, also while the server runs. They
// are never reached behind a step that answers every request. Append panics on
// steps that Start would refuse.
func (s *Server) Append(steps ...Step) {
	if err := (Scenario{Name: "appended", Steps: steps}).validate(); err != nil {
		panic("modelserver: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Remaining is the number of steps that no request has reached yet.
func (s *Server) Remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := len(s.steps) - s.next
	if left > 0 && s.used > 0 {
		left--
	}
	return left
}

// Failures says, oldest first, which steps met a conversation without the text
// they expect.
func (s *Server) Failures() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.failures...)
}

// step takes the next step of the script. After the last one the model has
// nothing more to say, which ends every turn. A step whose expectation is not
// met stays the next one.
func (s *Server) step(q question) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= len(s.steps) {
		return Step{Text: "The script has ended."}
	}
	step := s.steps[s.next]
	if !strings.Contains(q.text, step.Expect) {
		missing := fmt.Sprintf("step %d: the conversation does not hold %q", s.next, step.Expect)
		if len(s.failures) < maxRequests {
			s.failures = append(s.failures, missing)
		}
		return Step{Fault: &Fault{Status: http.StatusBadRequest, Message: missing}}
	}
	s.used++
	if step.Times >= 0 && s.used >= max(step.Times, 1) {
		s.next, s.used = s.next+1, 0
	}
	return step
}
