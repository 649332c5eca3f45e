package redact

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
)

// form is a way to write a value down.
type form int

const (
	plain form = iota
	hexDigits
	base64Digits
)

// needle is one form of one value: the characters that make it, in order. Each
// may itself be escaped where it stands.
type needle struct {
	name    string
	mark    string
	form    form
	chars   string
	percent bool // the value itself holds percent signs
}

// needles are all forms of a value.
func needles(name, value string) []needle {
	m := Mark(name)
	list := []needle{
		// How many backslashes a backslash takes depends on who wrote it down,
		// and those at the ends are nobody's secret.
		{name: name, mark: m, form: plain, chars: manyBackslashes.ReplaceAllLiteralString(strings.Trim(value, `\`), `\`), percent: strings.Contains(value, "%")},
		{name: name, mark: m, form: hexDigits, chars: hex.EncodeToString([]byte(value))},
	}
	for shift := range 3 {
		list = append(list, needle{name: name, mark: m, form: base64Digits, chars: base64Core(value, shift)})
	}
	return list
}

var manyBackslashes = regexp.MustCompile(`\\+`)

// base64Core is what is certain of the base64 text of something that holds the
// value after shift bytes (modulo three): six bits at a time, without the
// characters that have bits of the neighbours.
func base64Core(value string, shift int) string {
	padded := make([]byte, shift, shift+len(value))
	text := base64.RawStdEncoding.EncodeToString(append(padded, value...))
	first := (8*shift + 5) / 6
	return text[first : 8*(shift+len(value))/6]
}

// same says whether a byte that stands in a text is the character c of a form.
func (f form) same(b, c byte) bool {
	switch f {
	case hexDigits:
		return b == c || b >= 'A' && b <= 'F' && b+'a'-'A' == c
	case base64Digits:
		return b == c || b == '-' && c == '+' || b == '_' && c == '/'
	case plain:
	}
	return b == c
}

// spellings are the bytes that may stand for the character c.
func (f form) spellings(c byte) []byte {
	out := []byte{c}
	for _, b := range []byte("-_ABCDEF") {
		if b != c && f.same(b, c) {
			out = append(out, b)
		}
	}
	return out
}

// maxGap bounds what may stand between two digits, in bytes: the end of a line,
// or its escape inside of JSON inside of JSON.
const maxGap = 8

// gap is how many bytes at the beginning of a text may stand between two
// characters of the form.
func (f form) gap(text []byte) int {
	if f == plain {
		return 0
	}
	n := 0
	for n < len(text) && n < maxGap {
		switch c := text[n]; {
		case c == '\n', c == '\r', f == hexDigits && (c == ' ' || c == ':' || c == ','):
			n++
		case c == '\\':
			run := backslashes(text[n:])
			after := n + run
			if after == len(text) {
				return after // perhaps; the next bytes tell
			}
			if text[after] != 'n' && text[after] != 'r' {
				return n
			}
			n = after + 1
		default:
			return n
		}
	}
	return n
}
