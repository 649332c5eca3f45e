package plan

import (
	"fmt"
	"strings"

	"sandboxrun/runner/document"
	"sandboxrun/runner/reading"
)

// Lint is a part of a task that a person may want to word better. It changes nothing.
type Lint struct {
	Path    string `json:"path"` // JSON pointer into the task
	Message string `json:"message"`
}

// Pointers of the sentences of a task.
const (
	constraintPointer = "/constraints/%d"
	criterionPointer  = "/acceptance_criteria/%d"
)

// planReadings reads every sentence among the constraints and criteria. A strict plan has none that is not measured as a whole.
func (p *Plan) planReadings(t *document.Task, patterns *reading.Patterns, strict bool) error {
	p.Readings = []reading.Reading{}
	var objects []reading.Demand
	for i, c := range t.Constraints {
		at := fmt.Sprintf(constraintPointer, i)
		if c.Kind == "" {
			p.Readings = append(p.Readings, patterns.Read(at, c.Text))
		} else {
			objects = append(objects, reading.Demand{Pointer: at, Check: reading.Check{Kind: c.Kind, Params: c.Params}})
		}
	}
	for i, c := range t.AcceptanceCriteria {
		at := fmt.Sprintf(criterionPointer, i)
		if c.Command == "" {
			p.Readings = append(p.Readings, patterns.Read(at, c.Text))
		} else {
			objects = append(objects, reading.Demand{Pointer: at, Check: reading.Check{Command: c.Command, ExpectExit: &c.ExpectExit}})
		}
	}
	p.dropContradictions(objects)
	p.lint(t)
	if !strict {
		return nil
	}
	var bad document.Problems
	for _, r := range p.Readings {
		if !r.Whole() {
			bad.Add(r.Pointer, "is not measured: %s", r.Why())
		}
	}
	return bad.Err("the task has sentences that nothing measures", `word them otherwise, or write them as objects; "sandboxrun plan" without --strict shows how each is read`)
}

// dropContradictions leaves sentences unread whose demands rule out one another, or an object of the task: nobody knows which of them
// is meant.
func (p *Plan) dropContradictions(objects []reading.Demand) {
	demands := objects
	for _, r := range p.Readings {
		for _, c := range r.Checks {
			demands = append(demands, reading.Demand{Pointer: r.Pointer, Check: c})
		}
	}
	for _, c := range reading.Contradictions(demands) {
		p.Lint = append(p.Lint, Lint{Path: c.Second, Message: fmt.Sprintf("contradicts %s: %s", c.First, c.Why)})
		for i, r := range p.Readings {
			other := c.First
			if r.Pointer == c.First {
				other = c.Second
			}
			if r.Pointer == c.First || r.Pointer == c.Second {
				p.Readings[i] = r.Unread(fmt.Sprintf("%s %s: %s", contradicts, other, c.Why))
			}
		}
	}
}

// contradicts begins the reason of a reading that was dropped.
const contradicts = "it contradicts"

// Contradicts says that a reading was dropped because another part of the task rules it out.
func Contradicts(r reading.Reading) bool { return strings.HasPrefix(r.Reason, contradicts) }

// lint names instructions that do not say what to do.
func (p *Plan) lint(t *document.Task) {
	if t.Instructions != "" && reading.Vague(t.Instructions) && (t.Objective == t.Instructions || reading.Vague(t.Objective)) {
		p.Lint = append(p.Lint, Lint{Path: "/instructions", Message: "does not say what is to be done: name the place, what shall change there, and how one can tell that it is done"})
	}
}

// ReadingAt is the reading of the sentence at a pointer. The plan of an older version has none: then nothing read it.
func (p *Plan) ReadingAt(pointer, text string) (r reading.Reading, index int) {
	for i, r := range p.Readings {
		if r.Pointer == pointer {
			return r, i
		}
	}
	return reading.Reading{Pointer: pointer, Text: text}.Unread(""), -1
}

// ReadingOfConstraint is the reading of a constraint in words.
func (p *Plan) ReadingOfConstraint(i int) reading.Reading {
	r, _ := p.ReadingAt(fmt.Sprintf(constraintPointer, i), p.Constraints[i].Text)
	return r
}

// ReadingOfCriterion is the reading of a criterion in words.
func (p *Plan) ReadingOfCriterion(i int) reading.Reading {
	r, _ := p.ReadingAt(fmt.Sprintf(criterionPointer, i), p.Criteria[i].Text)
	return r
}

// Checks lists the checks of the change that the task demands in objects and in sentences, each with its parameters.
func (p *Plan) Checks() []document.Constraint {
	var list []document.Constraint
	for _, c := range p.Constraints {
		if c.Kind != "" {
			list = append(list, c)
		}
	}
	for _, r := range p.Readings {
		for _, c := range r.Checks {
			if c.Kind != "" && c.Unmeasured == "" {
				list = append(list, document.Constraint{Kind: c.Kind, Text: string(c.Object()), Params: c.Object()})
			}
		}
	}
	return list
}

// Unmeasured counts the criteria that are not measured as a whole.
func (p *Plan) Unmeasured() int {
	n := 0
	for i, c := range p.Criteria {
		if c.Command == "" && !p.ReadingOfCriterion(i).Whole() {
			n++
		}
	}
	return n
}
