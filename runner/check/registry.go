package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kind is one registered sort of check. Parsing, messages and the schema of tasks follow from it.
type Kind struct {
	Name   string
	Help   string // one line: which change passes
	Params []Param
}

// registered is a kind and what makes its checks.
type registered struct {
	Kind
	build func(values) Check
}

var kinds = map[string]registered{}

// register makes a kind known; the kinds call it from init. A name that is taken and a kind that does not explain itself
// are mistakes of the program and panic.
func register(k Kind, build func(values) Check) {
	if _, taken := kinds[k.Name]; taken {
		panic(fmt.Sprintf("check: kind %s is registered twice", k.Name))
	}
	incomplete := k.Name == "" || k.Help == ""
	names := map[string]bool{"": true, kindMember: true}
	for _, p := range k.Params {
		incomplete = incomplete || names[p.Name] || p.Help == "" || p.Type == "" || p.Min > p.Max
		names[p.Name] = true
	}
	if incomplete {
		panic(fmt.Sprintf("check: kind %+v lacks a help, a type, bounds or names of its own", k))
	}
	kinds[k.Name] = registered{k, build}
}

// Kinds lists the registered kinds, sorted by name.
func Kinds() []Kind {
	list := make([]Kind, 0, len(kinds))
	for _, k := range kinds {
		list = append(list, k.Kind)
	}
	slices.SortFunc(list, func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// New makes the check of a constraint from its whole JSON object. The empty
// kind is a constraint in words, which nothing here can judge. Errors are
// *ParamError.
func New(name string, params json.RawMessage) (Check, error) {
	if name == "" {
		return sentence{}, nil
	}
	k, ok := kinds[name]
	if !ok {
		var names []string
		for _, k := range Kinds() {
			names = append(names, k.Name)
		}
		return nil, &ParamError{{Path: "/kind", Message: fmt.Sprintf("no check is called %q (there are: %s)", clip(name), strings.Join(names, ", "))}}
	}
	v, err := k.decode(params)
	if err != nil {
		return nil, err
	}
	return k.build(v), nil
}
