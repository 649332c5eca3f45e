// Package step names the points of a run at which something outside of its
// memory comes into being or goes away, and tells those who keep a journal of
// them. Every room names its own; one list has them all.
package step

import (
	"context"
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
	Before Side = "before"
	After  Side = "after"
)

// Watch is told of a step before it is taken, with the name of what it is
// about, and by the returned function, which must not be nil, when it is over.
type Watch func(n Name, about string) (done func(error))

type watchKey struct{}

// With returns a context whose steps w is told of.
func With(ctx context.Context, w Watch) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

// Begin says that the step is about to be taken; the returned function says
// that it is over. Whoever keeps a journal is told first of the beginning and
// last of the end, so that a journal never claims what has not happened.
func Begin(ctx context.Context, n Name, about string) (done func(error)) {
	w, _ := ctx.Value(watchKey{}).(Watch)
	return begin(w, n, about)
}

// Tell is Do where no context carries w.
func Tell(w Watch, n Name, about string, take func() error) error {
	done := begin(w, n, about)
	err := take()
	done(err)
	return err
}

// Do takes a step.
func Do(ctx context.Context, n Name, about string, take func() error) error {
	done := Begin(ctx, n, about)
	err := take()
	done(err)
	return err
}

// Bare takes a step that no journal is told of, because there is none yet or
// none any more.
func Bare(n Name, take func() error) error {
	return Tell(nil, n, "", take)
}

func begin(w Watch, n Name, about string) func(error) {
	told := func(error) {}
	if w != nil {
		told = w(n, about)
	}
	reached(n, Before)
	return func(err error) {
		reached(n, After)
		told(err)
	}
}
