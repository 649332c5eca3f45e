package reading

import (
	_ "embed"
	"strings"
	"sync"
)

// traditional are pairs of a traditional character and its simplified form: those of the patterns, and others that are common in
// tasks. The libraries of the field cannot be had from the module proxy.
//
//go:embed simplified.txt
var traditional string

var simplifiedOf = sync.OnceValue(func() map[rune]rune {
	pairs := []rune(strings.Join(strings.Fields(traditional), ""))
	m := make(map[rune]rune, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
})

// simplified is the simplified form of a Chinese character, and any other character itself.
func simplified(r rune) rune {
	if s, ok := simplifiedOf()[r]; ok {
		return s
	}
	return r
}
