package document

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sandboxrun/runner/excerpt"
)

// UnmarshalJSON reads an integer of bytes, or a string that ParseSize takes.
func (s *Size) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		return json.Unmarshal(data, (*int64)(s))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	n, err := ParseSize(text)
	*s = n
	return err
}

// ParseSize reads a number of bytes with an optional binary suffix k, m, g or t
// in either case: "256m" is 256·2²⁰.
func ParseSize(text string) (Size, error) {
	digits, shift := text, 0
	if len(text) > 0 {
		if i := strings.IndexByte("kmgt", text[len(text)-1]|0x20); i >= 0 {
			digits, shift = text[:len(text)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("size %q: want bytes with an optional suffix k, m, g or t, such as 256m", excerpt.Clip(text, 64))
	}
	if n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("size %q: too large", excerpt.Clip(text, 64))
	}
	return Size(n << shift), nil
}

// String writes the size with the largest suffix that loses nothing.
func (s Size) String() string {
	n, suffix := int64(s), ""
	for _, next := range []string{"k", "m", "g", "t"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, suffix = n/1024, next
	}
	return strconv.FormatInt(n, 10) + suffix
}
