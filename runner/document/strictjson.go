package document

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

	"sandboxrun/runner/excerpt"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth bounds the nesting of a document; the contracts need five.
	maxDepth = 32
	// maxNumber bounds the digits of a number. Together with the ban on
	// exponents it keeps exact arithmetic on numbers of strangers cheap.
	maxNumber = 32
)

// StrictJSON walks over one JSON document and reports what encoding/json would
// silently accept: repeated keys, keys that differ only in letter case, NUL in
// strings, numbers with exponents, a second document. What breaks the grammar
// (which here includes invalid UTF-8 and lone surrogates) ends the walk, and ok
// is false. cut lists values that later stages must not look at.
//
// In objects at the pointers in free, names are the caller's own and may differ
// in case only.
func StrictJSON(data []byte, free []string, p *Problems) (cut []string, ok bool) {
	w := walker{
		dec:  jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true)),
		data: data, free: free, problems: p,
	}
	return w.cut, w.walk()
}

type walker struct {
	dec      *jsontext.Decoder
	data     []byte
	free     []string
	problems *Problems
	names    []map[string]string // per open object: folded name to first spelling
	cut      []string
}

func (w *walker) walk() bool {
	for {
		kind, n := w.dec.StackIndex(w.dec.StackDepth())
		isName := kind == '{' && n%2 == 0
		tok, err := w.dec.ReadToken()
		if err != nil {
			w.syntax(err)
			return false
		}
		switch tok.Kind() {
		case '{', '[':
			if w.dec.StackDepth() > maxDepth {
				w.problems.Add(string(w.dec.StackPointer()), "is nested deeper than %d levels", maxDepth)
				return false
			}
			w.names = append(w.names, map[string]string{})
		case '}', ']':
			w.names = w.names[:len(w.names)-1]
		case '"':
			w.text(tok.String(), isName)
		case '0':
			w.number(tok.String())
		}
		if w.dec.StackDepth() == 0 {
			return w.end()
		}
	}
}

// text checks a string or the name of a member.
func (w *walker) text(s string, isName bool) {
	at := w.dec.StackPointer()
	if strings.ContainsRune(s, 0) {
		w.problems.Add(string(at), "must not hold NUL")
		w.cut = append(w.cut, string(at))
	}
	if !isName {
		return
	}
	open := w.names[len(w.names)-1]
	key := s
	if !slices.Contains(w.free, string(at.Parent())) {
		key = foldKey(s)
	}
	switch first, known := open[key]; {
	case !known:
		open[key] = s
	case first == s:
		w.problems.Add(string(at), "key %q appears more than once", excerpt.Clip(s, 64))
	default:
		w.problems.Add(string(at), "key %q differs from %q in letter case only", excerpt.Clip(s, 64), excerpt.Clip(first, 64))
	}
}

func (w *walker) number(text string) {
	at := string(w.dec.StackPointer())
	switch {
	case strings.ContainsAny(text, "eE"):
		w.problems.Add(at, "write the number without an exponent")
	case len(text) > maxNumber:
		w.problems.Add(at, "is a number of more than %d digits", maxNumber)
	default:
		return
	}
	w.cut = append(w.cut, at)
}

// end makes sure that nothing follows the document.
func (w *walker) end() bool {
	_, err := w.dec.ReadToken()
	if errors.Is(err, io.EOF) {
		return true
	}
	line, column := position(w.data, w.dec.InputOffset())
	w.problems.Add("", "something follows the document after line %d, column %d; exactly one document is expected", line, column)
	return false
}

func (w *walker) syntax(err error) {
	var bad *jsontext.SyntacticError
	switch {
	case errors.As(err, &bad):
		line, column := position(w.data, bad.ByteOffset)
		if why := notJSON(w.data, bad.ByteOffset); why != "" {
			w.problems.Add(string(bad.JSONPointer), "line %d, column %d: %s", line, column, why)
			return
		}
		w.problems.Add(string(bad.JSONPointer), "line %d, column %d: %v", line, column, bad.Err)
	case errors.Is(err, io.EOF):
		w.problems.Add("", "the document is empty")
	default:
		w.problems.Add("", "%v", err)
	}
}

// position turns a byte offset into a line and a byte column, both from 1.
func position(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset, 0), int64(len(data)))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// foldKey maps names that encoding/json takes for the same to one.
func foldKey(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
