package document

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Marks that some editors put at the beginning of a file.
var (
	markUTF8    = []byte("\xef\xbb\xbf")
	markUTF16LE = []byte("\xff\xfe")
	markUTF16BE = []byte("\xfe\xff")
)

// yamlLine is a line that YAML reads as a field or as the beginning of a document, and JSON does not read.
var yamlLine = regexp.MustCompile(`^(---|%YAML|- |[A-Za-z_][A-Za-z0-9_-]*:( |$))`)

// notJSON names the habit of another format or editor that broke the grammar at an offset of data in bytes; "" when it
// is none of those known.
func notJSON(data []byte, offset int64) string {
	switch {
	case bytes.HasPrefix(data, markUTF8):
		return "the document begins with a byte order mark; save it as UTF-8 without one"
	case bytes.HasPrefix(data, markUTF16LE), bytes.HasPrefix(data, markUTF16BE):
		return "the document is UTF-16; save it as UTF-8"
	}
	rest := data[min(max(offset, 0), int64(len(data))):]
	switch {
	case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")):
		return "JSON has no comments; remove this one"
	case looksLikeYAML(data):
		return "this looks like YAML; write it as JSON"
	case bytes.HasPrefix(rest, []byte("#")):
		return "JSON has no comments; remove this one"
	case bytes.HasPrefix(rest, []byte("'")):
		return `strings and names are written in double quotes ("), not in single ones (')`
	}
	return notJSONAt(data, rest)
}

func notJSONAt(data, rest []byte) string {
	first, _ := utf8.DecodeRune(rest)
	switch {
	case strings.ContainsRune("“”„«»‘’", first):
		return `strings and names are written in straight double quotes (")`
	case first == '\n' || first == '\r':
		return `a string ends on the line on which it begins; write a line break in it as \n`
	case first == ',' && closes(bytes.TrimLeft(rest[1:], " \t\r\n")), closes(rest) && endsInComma(data[:len(data)-len(rest)]):
		return "a comma stands before the closing bracket; remove it"
	}
	switch word := leadingWord(rest); word {
	case "":
		return ""
	case "True", "False", "None", "undefined", "NaN", "Infinity":
		return word + " is no JSON; use true, false, null or a number"
	default:
		if after := bytes.TrimLeft(rest[len(word):], " \t"); bytes.HasPrefix(after, []byte(":")) {
			return `names are written in double quotes, as in "` + word + `"`
		}
	}
	return ""
}

func closes(b []byte) bool { return len(b) > 0 && (b[0] == '}' || b[0] == ']') }

func endsInComma(b []byte) bool { return bytes.HasSuffix(bytes.TrimRight(b, " \t\r\n"), []byte(",")) }

// looksLikeYAML looks at the first line that is neither blank nor a comment.
func looksLikeYAML(data []byte) bool {
	for line := range bytes.Lines(data[:min(len(data), 4096)]) {
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		return yamlLine.Match(line)
	}
	return false
}

// leadingWord is the identifier of at most 64 letters at the beginning of b.
func leadingWord(b []byte) string {
	n := 0
	for n < len(b) && n <= 64 && (b[n] == '_' || b[n] == '-' || b[n] >= '0' && b[n] <= '9' || b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 || n > 64 || b[0] == '-' || b[0] >= '0' && b[0] <= '9' {
		return ""
	}
	return string(b[:n])
}
