package goapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Level is how much callers may notice.
type Level string

// Levels. A change of Signature is anything in a declaration that callers have, the names of parameters included. Compatible asks only
// that callers still build and still pass what they mean to.
const (
	Signature  Level = "signature"
	Compatible Level = "compatible"
)

// Change is one difference that callers notice.
type Change struct {
	Name string
	What string // in words
}

// Compare lists what callers notice between two surfaces, sorted by name. additions says that new names are no difference; counts
// selects the entries that count.
func Compare(was, now *Surface, level Level, additions bool, counts func(name string, e Entry) bool) []Change {
	var list []Change
	add := func(name, format string, args ...any) {
		list = append(list, Change{name, fmt.Sprintf(format, args...)})
	}
	for _, name := range slices.Sorted(maps.Keys(was.Entries)) {
		old := was.Entries[name]
		if !counts(name, old) {
			continue
		}
		e, still := now.Entries[name]
		switch {
		case !still:
			add(name, "%s is gone", old.Kind)
		case e.Kind != old.Kind:
			add(name, "is a %s and was a %s", e.Kind, old.Kind)
		case e.Shape != old.Shape:
			add(name, "was %q and is %q", brief(old.Text), brief(e.Text))
		case permuted(old.Params, e.Params):
			add(name, "parameters changed places: was %q and is %q", brief(old.Text), brief(e.Text))
		case level == Signature && e.Text != old.Text && renamed(old.Params, e.Params):
			add(name, "parameters have other names: was %q and is %q", brief(old.Text), brief(e.Text))
		case old.Value && !e.Value, level == Signature && old.Value != e.Value:
			add(name, "has another receiver")
		case old.Equal && !e.Equal:
			add(name, "can no longer be compared")
		case !keepsTag(old.Tag, e.Tag):
			add(name, "has another tag")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Entries)) {
		e := now.Entries[name]
		if _, old := was.Entries[name]; old || !counts(name, e) {
			continue
		}
		of, _ := cutLast(name)
		owner, known := was.Entries[of]
		switch {
		case e.Kind == Required && known && !owner.Closed:
			add(name, "is a new method of an interface that others can implement")
		case !additions:
			add(name, "%s is new", e.Kind)
		}
	}
	return list
}

func brief(text string) string {
	const most = 150
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// renamed says that parameters which had names have others.
func renamed(was, now []string) bool {
	for i := range min(len(was), len(now)) {
		if was[i] != now[i] && was[i] != "" && was[i] != "_" {
			return true
		}
	}
	return false
}

// permuted says that the same names stand at other places: callers would pass the one for the other.
func permuted(was, now []string) bool {
	if len(was) != len(now) {
		return false
	}
	at := map[string]int{}
	for i, name := range was {
		if name != "" && name != "_" {
			at[name] = i
		}
	}
	for i, name := range now {
		if old, known := at[name]; known && old != i {
			return true
		}
	}
	return false
}

// keepsTag says that each part of a field's tag is still there.
func keepsTag(was, now string) bool {
	parts := strings.Fields(now)
	for p := range strings.FieldsSeq(was) {
		if !slices.Contains(parts, p) {
			return false
		}
	}
	return true
}

// cutLast cuts a name at its last dot.
func cutLast(name string) (before, after string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}
