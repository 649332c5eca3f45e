package change

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"sandboxrun/gitdiff"
)

// maxOddShare is which part of the characters of a text may be control characters or broken, as one in so many: compiled
// programs and pictures have far more.
const maxOddShare = 20

// marks are the byte order marks of encodings with NUL bytes, the longer ones first.
var marks = []struct {
	mark     string
	name     string
	encoding encoding.Encoding
}{
	{"\xff\xfe\x00\x00", "UTF-32", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00\x00\xfe\xff", "UTF-32", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\xff\xfe", "UTF-16", utf.UTF16(utf.LittleEndian, utf.IgnoreBOM)},
	{"\xfe\xff", "UTF-16", utf.UTF16(utf.BigEndian, utf.IgnoreBOM)},
}

// hiddenText returns the text in content that git takes for binary because of its NUL bytes, though editors, compilers and
// shells read it: text in UTF-16 or UTF-32 with a byte order mark, or text in which NUL bytes stand. how says which, "" for
// content that is no text.
func hiddenText(content []byte) (text, how string) {
	for _, m := range marks {
		if bytes.HasPrefix(content, []byte(m.mark)) {
			decoded, err := m.encoding.NewDecoder().Bytes(content[len(m.mark):])
			if err == nil && isText(decoded) {
				return string(decoded), "text in " + m.name
			}
		}
	}
	if plain := bytes.ReplaceAll(content, []byte{0}, nil); isText(plain) {
		return string(plain), "text with NUL bytes"
	}
	return "", ""
}

// isText reports whether nearly all of content is characters of a text.
func isText(content []byte) bool {
	odd, all := 0, 0
	for len(content) > 0 {
		r, n := utf8.DecodeRune(content)
		if r == utf8.RuneError && n == 1 || unicode.IsControl(r) && !strings.ContainsRune("\t\n\f\r\x1b", r) {
			odd++
		}
		all++
		content = content[n:]
	}
	return all > 0 && odd <= all/maxOddShare
}

// hiddenIn reports text that git and most reviewers take for binary, and what is unseen in its added lines.
func (d *Diff) hiddenIn(c *Change) ([]gitdiff.Finding, error) {
	now, ok, err := d.text(c.new)
	if err != nil || !ok || !c.new.exists() {
		return nil, err
	}
	text, how := hiddenText(now)
	if how == "" {
		return nil, nil
	}
	was, ok, err := d.text(c.old)
	if err != nil {
		return nil, err
	}
	old, before := "", ""
	if ok {
		old, before = hiddenText(was)
	}
	found := unseenIn(compareLines(old, text, compareLimit))
	if before != how {
		found = append(found, gitdiff.Finding{Code: gitdiff.InvisibleText, Detail: how + ", which git shows as binary"})
	}
	return found, nil
}
