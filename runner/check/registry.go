package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// kind is one registered sort of check.
type kind struct {
	help  string
	parse func(params json.RawMessage) (Check, error)
}

var kinds = map[string]kind{}

// register makes a kind known; the kinds call it from init. A name that is
// taken is a mistake of the program and panics.
func register(name, help string, parse func(json.RawMessage) (Check, error)) {
	if _, taken := kinds[name]; taken {
		panic(fmt.Sprintf("check: kind %s is registered twice", name))
	}
	kinds[name] = kind{help: help, parse: parse}
}

// Kinds lists the registered kinds, sorted.
func Kinds() []string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Help says in one line what a kind checks and which parameters it takes; ""
// for an unknown kind.
func Help(name string) string { return kinds[name].help }

// New makes the check of a constraint from its whole JSON object. The empty
// kind is a constraint in words, which nothing here can judge. Errors are
// *ParamError.
func New(name string, params json.RawMessage) (Check, error) {
	if name == "" {
		return sentence{}, nil
	}
	k, ok := kinds[name]
	if !ok {
		return nil, &ParamError{{Path: "/kind", Message: fmt.Sprintf("no check is called %q (there are: %s)",
			clip(name), strings.Join(Kinds(), ", "))}}
	}
	return k.parse(params)
}
