// Package step names the points of a run at which something outside its memory
// is made or removed. Every package defines its own; one list has them all.
//
// Before and After mark such a point. They do nothing in a release build; a
// build with the tag sandboxrun_mortal can die there, and the tests let it die
// at each. The few steps that a later runner has to know of to recover from the
// death of this one are told to a [Journal] as well.
package step

import (
	"fmt"
	"slices"
	"sync"
)

// Name is one step. The same one may be passed several times in a run.
type Name string

var defined struct {
	sync.Mutex
	names []Name
}

// Define adds a step to the list and returns its name. It panics when the list
// has it already: that is a fault of the program.
func Define(name Name) Name {
	defined.Lock()
	defer defined.Unlock()
	if slices.Contains(defined.names, name) {
		panic(fmt.Sprintf("step %q is defined twice", name))
	}
	defined.names = append(defined.names, name)
	return name
}

// All lists every step of the program, sorted.
func All() []Name {
	defined.Lock()
	defer defined.Unlock()
	return slices.Sorted(slices.Values(defined.names))
}

// Side says on which side of a step something is.
type Side string

// The sides of a step.
const (
	SideBefore Side = "before"
	SideAfter  Side = "after"
)

// Before marks the point before a step.
func Before(n Name) { reached(n, SideBefore) }

// After marks the point after a step, whether the step went well or not.
func After(n Name) { reached(n, SideAfter) }

// Journal is told of a step before it is taken, with the name of what it is
// about, and by the returned function, which must not be nil, when it is over.
type Journal func(n Name, about string) (done func(error))

// Begin marks the point before a step and tells the journal, if there is one;
// the returned function marks and tells the end. The journal is told first of
// the beginning and last of the end, so that it never claims what has not
// happened.
func (j Journal) Begin(n Name, about string) (done func(error)) {
	tell := func(error) {}
	if j != nil {
		tell = j(n, about)
	}
	Before(n)
	return func(err error) {
		After(n)
		tell(err)
	}
}
