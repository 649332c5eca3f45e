package runner

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// prune takes the values at the pointers out of a tree of maps and slices.
// Members vanish; elements become null, which keeps the indices of the others.
func prune(tree any, pointers []string) any {
	for _, at := range pointers {
		tokens := slices.Collect(jsontext.Pointer(at).Tokens())
		if len(tokens) == 0 {
			return nil
		}
		node := tree
		for _, tok := range tokens[:len(tokens)-1] {
			node = child(node, tok)
		}
		last := tokens[len(tokens)-1]
		switch n := node.(type) {
		case map[string]any:
			delete(n, last)
		case []any:
			if i, err := strconv.Atoi(last); err == nil && i < len(n) {
				n[i] = nil
			}
		}
	}
	return tree
}

// child is nil where there is none: a parent may have been cut before.
func child(node any, token string) any {
	switch n := node.(type) {
	case map[string]any:
		return n[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i < len(n) {
			return n[i]
		}
	}
	return nil
}
