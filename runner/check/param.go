package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// Problem is one thing wrong with the parameters of a check.
type Problem struct {
	Path    string // JSON pointer into the constraint
	Message string
}

// ParamError says that a constraint's parameters cannot be used. It lists
// every problem.
type ParamError []Problem

func (e *ParamError) Error() string {
	parts := make([]string, len(*e))
	for i, p := range *e {
		parts[i] = p.Path + ": " + p.Message
	}
	return strings.Join(parts, "; ")
}

// decode reads the whole object of a constraint into a kind's parameters;
// fields the kind does not have are refused.
func decode(params json.RawMessage, into any) error {
	err := jsonv2.Unmarshal(params, into, jsonv2.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var bad *jsonv2.SemanticError
	switch {
	case errors.As(err, &bad) && errors.Is(err, jsonv2.ErrUnknownName):
		return &ParamError{{Path: string(bad.JSONPointer), Message: "this kind has no such parameter"}}
	case errors.As(err, &bad):
		return &ParamError{{Path: string(bad.JSONPointer), Message: fmt.Sprintf("cannot be a %s", bad.JSONKind)}}
	}
	return &ParamError{{Message: clip(err.Error())}}
}
