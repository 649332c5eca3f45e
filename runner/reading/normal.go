package reading

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// text is a sentence in the one form that patterns are written for. Its runes and where each came from have the same indices.
type text struct {
	runes  []rune
	from   []int // index into source of each rune
	source []rune
	atoms  map[rune]atom
}

// part is a stretch of a text.
type part struct{ begin, end int }

func (t *text) string(p part) string { return string(t.runes[p.begin:p.end]) }

// words are the words of the sentence that a part was made of.
func (t *text) words(p part) string {
	if p.begin >= p.end {
		return ""
	}
	begin, end := t.from[p.begin], len(t.source)
	if p.end < len(t.from) {
		end = t.from[p.end]
	}
	return strings.TrimSpace(string(t.source[begin:end]))
}

// trim takes space off both ends.
func (t *text) trim(p part) part {
	for p.begin < p.end && t.runes[p.begin] == ' ' {
		p.begin++
	}
	for p.begin < p.end && t.runes[p.end-1] == ' ' {
		p.end--
	}
	return p
}

// normalize brings a sentence into that form: compatible characters (NFKC), full width, quotation marks, spaces and traditional
// characters do not matter afterwards. Quoted pieces and paths become atoms, single characters of the private use area, so that
// no pattern reads what is inside of them. why says why a sentence is not read at all.
func normalize(s string) (t *text, why string) {
	source := []rune(s)
	if len(source) > maxSentence {
		return nil, "it has more than 8000 characters"
	}
	if slices.ContainsFunc(source, hidden) {
		return nil, "it holds characters that nobody sees or that change the direction of text"
	}
	t = &text{source: source, atoms: map[rune]atom{}}
	for i := 0; i < len(source); {
		a, end := atomAt(source, i)
		if end == i {
			t.fold(source[i], i)
			i++
			continue
		}
		if len(t.atoms) == maxAtoms {
			return nil, "it has more than 200 quoted pieces and paths"
		}
		mark := a.kind.first() + rune(len(t.atoms))
		t.atoms[mark] = a
		t.add(mark, i)
		i = end
	}
	t.tighten()
	return t, ""
}

// hidden are characters that make a sentence read otherwise than it looks, and those the atoms need.
func hidden(r rune) bool {
	if r == '\n' || r == '\r' || r == '\t' {
		return false
	}
	return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || unicode.Is(unicode.Variation_Selector, r)
}

func (t *text) add(r rune, from int) { t.runes, t.from = append(t.runes, r), append(t.from, from) }

// fold adds one character of the sentence in its plain form.
func (t *text) fold(r rune, from int) {
	if r == '\n' {
		t.add('\n', from)
		return
	}
	for _, f := range norm.NFKC.String(string(r)) {
		switch {
		case unicode.IsSpace(f):
			f = ' '
		case f == '\u2019' || f == '\u2018' || f == '\u02bc':
			f = '\''
		case f == '\u2010' || f == '\u2011':
			f = '-'
		default:
			f = simplified(f)
		}
		t.add(f, from)
	}
}

// tighten keeps one space of many, and none beside Chinese characters and punctuation, where writers differ.
func (t *text) tighten() {
	runes, from := t.runes, t.from
	t.runes, t.from = nil, nil
	for i, r := range runes {
		if r == ' ' {
			if i == 0 || len(t.runes) == 0 || t.runes[len(t.runes)-1] == ' ' || wide(t.runes[len(t.runes)-1]) {
				continue
			}
			next := i + 1
			for next < len(runes) && runes[next] == ' ' {
				next++
			}
			if next == len(runes) || wide(runes[next]) {
				continue
			}
		}
		t.add(r, from[i])
	}
}

// wide are characters that Chinese text has no spaces around.
func wide(r rune) bool {
	return unicode.Is(unicode.Han, r) || r == '、' || r == '。' || r == '\n'
}
