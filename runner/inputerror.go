package runner

import (
	"fmt"
	"strings"
)

// InputError says that what the caller gave cannot be used: a task, a
// configuration, a flag, the id of a run. Nothing was created.
type InputError struct {
	Message string   // one sentence
	Details []Detail // every problem, at most maxDetails of them
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
	// maxDetails bounds the problems one error lists.
	maxDetails = 100
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

// problems collects details. Of a place that was already complained about,
// later stages say nothing more: they would only echo.
type problems struct {
	list    []Detail
	stage   int            // details before it belong to earlier stages
	paths   map[string]int // first stage that reported the path
	omitted int
}

// nextStage begins a stage of checks that rely on the earlier ones.
func (p *problems) nextStage() { p.stage++ }

func (p *problems) add(path, format string, args ...any) {
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
	if len(p.list) >= maxDetails {
		p.omitted++
		return
	}
	if _, known := p.paths[path]; !known {
		p.paths[path] = p.stage
	}
	p.list = append(p.list, Detail{Path: clip(path, maxPath), Message: clip(fmt.Sprintf(format, args...), maxMessage)})
}

// empty says that there is no problem so far.
func (p *problems) empty() bool { return len(p.list) == 0 }

// err is nil when there is no problem.
func (p *problems) err(message, hint string) error {
	if len(p.list) == 0 {
		return nil
	}
	if p.omitted > 0 {
		p.list = append(p.list, Detail{Message: fmt.Sprintf("and %d more problems", p.omitted)})
	}
	return &InputError{Message: message, Details: p.list, Hint: hint}
}
