package document

import (
	"fmt"
	"strings"

	"sandboxrun/runner/excerpt"
)

// InputError says that what the caller gave cannot be used: a task, a
// configuration, a flag, the id of a run. Nothing was created.
type InputError struct {
	Message string   // one sentence
	Details []Detail // every problem, at most MaxDetails of them
	Hint    string   // what a person can do, may be empty
}

// Detail is one problem.
type Detail struct {
	// Path is the JSON pointer (RFC 6901) of the problem; "" for the whole
	// document or for what is not in it.
	Path    string `json:"path"`
	Message string `json:"message"`
}

const (
	// MaxDetails bounds the problems one error lists.
	MaxDetails = 100
	// maxPath and maxMessage bound a detail in bytes; both may quote the caller.
	maxPath    = 512
	maxMessage = 1000
)

func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	for i, d := range e.Details {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Details)-i)
			break
		}
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep)
		if d.Path != "" {
			b.WriteString(d.Path + " ")
		}
		b.WriteString(d.Message)
	}
	return b.String()
}

// Problems collects details. Of a place that was already complained about,
// later stages say nothing more: they would only echo.
type Problems struct {
	list    []Detail
	stage   int            // details before it belong to earlier stages
	paths   map[string]int // first stage that reported the path
	omitted int
}

// NextStage begins a stage of checks that rely on the earlier ones.
func (p *Problems) NextStage() { p.stage++ }

// Add reports a problem at a JSON pointer, unless an earlier stage has reported
// one there or above.
func (p *Problems) Add(path, format string, args ...any) {
	if p.paths == nil {
		p.paths = map[string]int{}
	}
	for at := path; ; {
		if stage, known := p.paths[at]; known && stage < p.stage && (at != "" || path == "") {
			return
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = at[:i]
	}
	if len(p.list) >= MaxDetails {
		p.omitted++
		return
	}
	if _, known := p.paths[path]; !known {
		p.paths[path] = p.stage
	}
	p.list = append(p.list, Detail{Path: excerpt.Clip(path, maxPath), Message: excerpt.Clip(fmt.Sprintf(format, args...), maxMessage)})
}

// Empty says that there is no problem so far.
func (p *Problems) Empty() bool { return len(p.list) == 0 }

// Err is nil when there is no problem.
func (p *Problems) Err(message, hint string) error {
	if len(p.list) == 0 {
		return nil
	}
	if p.omitted > 0 {
		p.list = append(p.list, Detail{Message: fmt.Sprintf("and %d more problems", p.omitted)})
	}
	return &InputError{Message: message, Details: p.list, Hint: hint}
}

// ConflictError says that a valid request cannot be carried out now: a session is
// busy, or going back meets uncommitted changes.
type ConflictError struct{ *InputError }

// Unwrap makes it the input error it is.
func (e *ConflictError) Unwrap() error { return e.InputError }

// InputAt is an error about one place of the task.
func InputAt(path, message string) *InputError {
	return &InputError{Message: "the task cannot be run", Details: []Detail{{Path: path, Message: message}}}
}
