package modelserver

import (
	"fmt"
	"net/http"
)

// protocol is the wire of one provider: it reads questions and gives answers
// their form. Everything else is the same for all of them.
type protocol interface {
	// parse reads a request. Path, method and the key's header are the server's.
	parse(r *http.Request, body []byte) (question, error)
	// document is the answer in its non-streaming form.
	document(q question, a answer) any
	// events is the answer as server-sent events.
	events(q question, a answer) []event
	// fault is the body of an error answer.
	fault(f Fault) any
}

// faultType is what an error is called where the script does not say.
func faultType(f Fault, byStatus map[int]string) string {
	if f.Type != "" {
		return f.Type
	}
	if name, ok := byStatus[f.Status]; ok {
		return name
	}
	if f.Status >= http.StatusInternalServerError {
		return byStatus[http.StatusInternalServerError]
	}
	return byStatus[http.StatusBadRequest]
}

// id makes an identifier of a number.
func id(prefix string, number int) string { return fmt.Sprintf("%s_%012d", prefix, number) }
