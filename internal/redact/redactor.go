package redact

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Redactor knows values that nobody may see. A nil Redactor knows none. It is
// safe for concurrent use; what it learns counts from then on, also for streams
// that have begun.
type Redactor struct {
	mu    sync.Mutex
	known map[string]bool
	list  []Value // known, in the order they came
	all   []needle
	set   atomic.Pointer[set]
}

// Add makes a value known under a name. A value known already keeps its name.
// The error is [ErrWeak] or [ErrLong]; it says nothing of the value.
func (r *Redactor) Add(name, value string) error {
	if err := check(value); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[value] {
		return nil
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[value] = true
	r.list = append(r.list, Value{Name: name, Value: []byte(value)})
	r.all = append(slices.Clone(r.all), needles(name, value)...)
	r.set.Store(newSet(r.all))
	return nil
}

// Value is one known value.
type Value struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// Values lists what is known by now, for another process that shall look for the same. Nobody else may see it.
func (r *Redactor) Values() []Value {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// Of makes a redactor that knows the values.
func Of(list []Value) (*Redactor, error) {
	r := &Redactor{}
	for _, v := range list {
		if err := r.Add(v.Name, string(v.Value)); err != nil {
			return nil, fmt.Errorf("value of %s: %w", Mark(v.Name), err)
		}
	}
	return r, nil
}

// current are the needles known by now, nil for none.
func (r *Redactor) current() *set {
	if r == nil {
		return nil
	}
	return r.set.Load()
}

// Bytes returns p with every known value replaced; p itself when it holds none.
func (r *Redactor) Bytes(p []byte) []byte {
	out, _ := r.current().replace(nil, p, true)
	return out
}

// String is [Redactor.Bytes] for a string.
func (r *Redactor) String(s string) string {
	if r.current() == nil {
		return s
	}
	p := []byte(s)
	if out, _ := r.current().replace(nil, p, true); len(out) != len(p) || string(out) != s {
		return string(out)
	}
	return s
}

// Find returns the name of the first known value in p, "" for none, and where
// it begins.
func (r *Redactor) Find(p []byte) (name string, at int) {
	s := r.current()
	if s == nil {
		return "", 0
	}
	if nd, from, _ := s.next(p, true); nd != nil {
		return nd.name, from
	}
	return "", 0
}

// replace returns text with every needle replaced and, unless final, without
// its end where a needle may begin; used is how much of text was dealt with.
// Where nothing is replaced, the result shares the memory of text.
func (s *set) replace(seen func(name string, at int), text []byte, final bool) (out []byte, used int) {
	if s == nil {
		return text, len(text)
	}
	changed := false
	for {
		nd, from, to := s.next(text[used:], final)
		if nd == nil {
			end := used + from
			if !changed {
				return text[:end], end
			}
			return append(out, text[used:end]...), end
		}
		if seen != nil {
			seen(nd.name, used+from)
		}
		out = append(out, text[used:used+from]...)
		out = append(out, nd.mark...)
		used, changed = used+to, true
	}
}
