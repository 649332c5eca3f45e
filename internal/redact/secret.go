package redact

import (
	"errors"
	"strings"
)

// Bounds of a value, in bytes. Shorter ones occur in ordinary text: replacing
// them would ruin every log and tell whoever reads it what they are.
const (
	minValue = 8
	maxValue = 64 << 10
)

// minDistinct is how many different bytes a value has at least. "00000000" and
// the like hold no secret and are everywhere.
const minDistinct = 4

// Errors of [Redactor.Add].
var (
	ErrWeak = errors.New("too short or too plain to be looked for: it would be found everywhere")
	ErrLong = errors.New("too long to be looked for")
)

func check(value string) error {
	if len(value) > maxValue {
		return ErrLong
	}
	var seen [256]bool
	distinct := 0
	for i := range len(value) {
		if !seen[value[i]] {
			seen[value[i]] = true
			distinct++
		}
	}
	if len(strings.Trim(value, `\`)) < minValue || distinct < minDistinct {
		return ErrWeak
	}
	return nil
}

// Mark is what stands for the value of that name. It needs no escaping anywhere.
func Mark(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return '_'
	}, name)
	return "[redacted:" + name + "]"
}
