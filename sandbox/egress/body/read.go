package body

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of one body. The size is the caller's to bound.
const (
	// maxValues bounds the JSON values and keys of a body, maxNames the bytes of its keys. A long conversation with all
	// tools has some ten thousand. The tokenizer holds the keys of open objects, with some 60 bytes for each.
	maxValues = 1 << 18
	maxNames  = 4 << 20
	maxName   = 4 << 10 // of one key; a refusal names all keys on the way to what it refuses
	maxDepth  = 64      // nesting of objects and arrays; tools' schemas are the deepest, with some twenty
)

// Facts is what a body says of its request.
type Facts struct {
	Model  string // "" where the form has none: the path names it
	Output int64  // the most tokens of the answer, 0 where the body does not say
}

// Form is the body of one call.
type Form struct{ top *rule }

// Read judges a body, which must be one JSON document of this form and nothing else. The error is a *RefusedError.
func (f *Form) Read(body []byte, p *Policy) (Facts, error) {
	r := reader{body: body, policy: p, left: maxValues}
	r.dec = jsontext.NewDecoder(bytes.NewBuffer(body)) // reads from body itself, without a copy
	if err := r.value(f.top); err != nil {
		return Facts{}, r.refusal(err)
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Facts{}, &RefusedError{Why: "has more than one JSON document"}
	}
	return r.facts, nil
}

type reader struct {
	body   []byte
	dec    *jsontext.Decoder
	policy *Policy
	left   int // values and keys that may still come
	names  int // bytes of keys so far
	facts  Facts
}

// refusal makes a *RefusedError of any error of reading.
func (r *reader) refusal(err error) error {
	if known, ok := errors.AsType[*RefusedError](err); ok {
		return known
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		why := "is not JSON"
		if errors.Is(err, jsontext.ErrDuplicateName) {
			why = "is given twice"
		}
		return &RefusedError{At: string(syntax.JSONPointer), Why: why}
	}
	return &RefusedError{Why: "is not JSON"}
}

// refuse refuses the value or key that was read last.
func (r *reader) refuse(value, why string, g Grant) error {
	return &RefusedError{At: string(r.dec.StackPointer()), Value: value, Why: why, Grant: g}
}

// next reads a token and counts it.
func (r *reader) next() (jsontext.Token, error) {
	if r.left--; r.left < 0 {
		return jsontext.Token{}, r.refuse("", "is beyond the number of values that a request may have", "")
	}
	before := r.dec.InputOffset()
	t, err := r.dec.ReadToken()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return t, err
	}
	if r.dec.StackDepth() > maxDepth {
		return t, r.refuse("", "is nested too deeply", "")
	}
	if t.Kind() == '"' {
		// In an object, keys are counted like values: after a key, their number is odd.
		if kind, n := r.dec.StackIndex(r.dec.StackDepth()); kind == '{' && n%2 == 1 {
			size := int(r.dec.InputOffset() - before)
			if size > maxName {
				return t, &RefusedError{Why: "has a key that is too long"}
			}
			r.names += size
		}
		if r.names > maxNames {
			return t, r.refuse("", "is beyond the bytes that the keys of a request may have", "")
		}
	}
	return t, nil
}

// value reads one value and judges it by its rule.
func (r *reader) value(rule *rule) error {
	t, err := r.next()
	if err != nil {
		return err
	}
	kind := kindOf(byte(t.Kind()))
	if rule.kinds&kind == 0 {
		return r.refuse("", "has a value of a kind that it cannot have", "")
	}
	if rule.grant != "" && rule.use == useNone && kind != isNull && !r.policy.Has(rule.grant) {
		return r.refuse("", "is not allowed", rule.grant)
	}
	switch {
	case kind == isObject:
		if rule.fields == nil {
			return r.skip()
		}
		return r.object(rule)
	case kind == isArray:
		if rule.item == nil {
			return r.skip()
		}
		return r.array(rule)
	case kind == isString:
		return r.text(rule, t)
	case kind == isNumber:
		return r.number(rule, t)
	case rule.use == useFalse && kind == isBool && t.Bool() && !r.policy.Has(rule.grant):
		return r.refuse("true", "is not allowed", rule.grant)
	}
	return nil
}

// skip reads the rest of the object or array that has just begun.
func (r *reader) skip() error {
	for depth := r.dec.StackDepth(); r.dec.StackDepth() >= depth; {
		if _, err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) array(rule *rule) error {
	for r.dec.PeekKind() != ']' {
		if err := r.value(rule.item); err != nil {
			return err
		}
	}
	_, err := r.next()
	return err
}

func (r *reader) object(rule *rule) error {
	var needed, seen []string
	for r.dec.PeekKind() != '}' {
		raw, err := r.key()
		if err != nil {
			return err
		}
		field := rule.fields[string(raw)]
		if field == nil {
			return r.refuse("", "is a key that this program does not know", "")
		}
		if rule.needs != nil || rule.must != nil {
			name := string(raw)
			seen = append(seen, name)
			if rule.needs[name] != "" {
				needed = append(needed, name)
			}
		}
		if err := r.value(field); err != nil {
			return err
		}
	}
	if _, err := r.next(); err != nil {
		return err
	}
	for _, name := range needed {
		if !slices.Contains(seen, rule.needs[name]) {
			return r.refuse(name, "is a key that needs "+strconv.Quote(rule.needs[name])+" next to it", "")
		}
	}
	for _, m := range rule.must {
		if !slices.Contains(seen, m.key) && !r.policy.Has(m.grant) {
			return r.refuse(m.key, "is missing, and the provider's default is not allowed", m.grant)
		}
	}
	return nil
}

// key reads a key of an object, which may not be written with escapes: no client does that, and a gateway that compares
// bytes would not see it. The result is a part of the body.
func (r *reader) key() ([]byte, error) {
	before := r.dec.InputOffset()
	if _, err := r.next(); err != nil {
		return nil, err
	}
	token := r.body[before:r.dec.InputOffset()]
	token = token[bytes.IndexByte(token, '"')+1 : len(token)-1] // before it are a comma and white space
	if bytes.IndexByte(token, '\\') >= 0 {
		return nil, r.refuse("", "is a key that is written with escapes", "")
	}
	return token, nil
}

func (r *reader) text(rule *rule, t jsontext.Token) error {
	if rule.words == nil && rule.use == useNone {
		return nil
	}
	s := t.String()
	if rule.use == useModel {
		r.facts.Model = s
		if r.policy.Model(s) != nil {
			return r.refuse(s, notPlanned, AnyModel)
		}
	}
	if rule.use == useData && !strings.HasPrefix(s, "data:") && !r.policy.Has(rule.grant) {
		return r.refuse(s, "is not a data: URL", rule.grant)
	}
	if could, ok := rule.takes(s, r.policy); !ok {
		return r.refuse(s, "is not allowed", could)
	}
	return nil
}

func (r *reader) number(rule *rule, t jsontext.Token) error {
	if rule.use != useOutput && rule.use != useOne {
		return nil
	}
	n, err := t.Float()
	switch {
	case err != nil || n != math.Trunc(n) || n < 0 || n > 1e9:
		return r.refuse(clip(t.String()), "is not a number of tokens or answers", "")
	case rule.use == useOne && n > 1:
		return r.refuse(clip(t.String()), "asks for more than one answer", "")
	case rule.use == useOutput:
		r.facts.Output = max(r.facts.Output, int64(n))
	}
	return nil
}

// clip shortens a text that the box wrote.
func clip(s string) string {
	if len(s) > maxShown {
		return s[:maxShown] + "..."
	}
	return s
}

func quote(s string) string { return strconv.QuoteToASCII(clip(s)) }
