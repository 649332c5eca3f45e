package body

import "strings"

// kinds is a set of JSON kinds.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isBool
	isNumber
	isString
	isArray
	isObject

	isAny = isNull | isBool | isNumber | isString | isArray | isObject
)

// kindOf translates the kinds of jsontext.
func kindOf(k byte) kinds {
	switch k {
	case 'n':
		return isNull
	case 't', 'f':
		return isBool
	case '0':
		return isNumber
	case '"':
		return isString
	case '[':
		return isArray
	case '{':
		return isObject
	}
	return 0
}

// rule says which values may be at one place of a body. Two values at one place share a rule, whichever variant of
// the provider's schema they are: the rule lists the keys and words that are harmless there in every variant.
type rule struct {
	kinds  kinds
	fields map[string]*rule // keys of an object; nil for any keys with any values
	item   *rule            // elements of an array; nil for any
	words  []word           // what a string may be; nil for any
	grant  Grant            // without it the value is refused; null is accepted
	use    use
	// needs names, for a key of an object, another key that must be there too: without it the provider would read
	// the object as something else.
	needs map[string]string
	// must lists keys whose absence means something that is refused, with the grant that makes up for them.
	must []required
}

// required is a key that may only be missing with a grant.
type required struct {
	key   string
	grant Grant
}

// word is a string that is accepted; a trailing * matches any ending. With a grant, it is accepted with that only.
type word struct {
	text  string
	grant Grant
}

func (w word) matches(s string) bool {
	if prefix, ok := strings.CutSuffix(w.text, "*"); ok {
		return strings.HasPrefix(s, prefix)
	}
	return s == w.text
}

// takes reports whether s is one of the rule's words; could is the grant that would make it one.
func (r *rule) takes(s string, p *Policy) (could Grant, ok bool) {
	for _, w := range r.words {
		switch {
		case !w.matches(s):
		case w.grant == "" || p.Has(w.grant):
			return "", true
		default:
			could = w.grant
		}
	}
	return could, r.words == nil
}

// use is what the reader does with a value beside judging its form.
type use uint8

const (
	useNone   use = iota
	useModel      // the name of a model: the policy decides
	useOutput     // the most tokens of one answer
	useFalse      // true needs the grant
	useOne        // a number above 1 multiplies the answer, and is refused
	useData       // a data: URL, or any URL with the grant
)

type fields map[string]*rule

// object accepts an object with these keys, and null.
func object(f fields) *rule { return &rule{kinds: isObject | isNull, fields: f} }

// list accepts an array of such values, and null.
func list(of *rule) *rule { return &rule{kinds: isArray | isNull, item: of} }

// texts accepts a string that is one of the words, and null.
func texts(words ...string) *rule {
	r := &rule{kinds: isString | isNull}
	for _, w := range words {
		r.words = append(r.words, word{text: w})
	}
	return r
}

// with adds words that need a grant.
func (r *rule) with(g Grant, words ...string) *rule {
	out := *r
	out.words = append([]word{}, r.words...)
	for _, w := range words {
		out.words = append(out.words, word{w, g})
	}
	return &out
}

// or accepts what another rule accepts, too. At most one of both may say what is in an object, an array or a string.
func (r *rule) or(other *rule) *rule {
	out := *r
	out.kinds |= other.kinds
	if other.fields != nil {
		out.fields, out.needs, out.must = other.fields, other.needs, other.must
	}
	if other.item != nil {
		out.item = other.item
	}
	if other.words != nil {
		out.words = other.words
	}
	if other.use != useNone {
		out.use, out.grant = other.use, other.grant
	}
	return &out
}

// need accepts any value, with the grant only.
func need(g Grant) *rule { return &rule{kinds: isAny, grant: g} }

// is keeps a rule to some kinds.
func (r *rule) is(k kinds) *rule {
	out := *r
	out.kinds = k | isNull
	return &out
}

// requires refuses an object without the key, unless the grant allows what its absence means.
func (r *rule) requires(key string, g Grant) *rule {
	out := *r
	out.must = append(append([]required{}, r.must...), required{key, g})
	return &out
}

var (
	anything = &rule{kinds: isAny}
	text     = &rule{kinds: isString | isNull}
	number   = &rule{kinds: isNumber | isNull}
	flag     = &rule{kinds: isBool | isNull}
	model    = &rule{kinds: isString, use: useModel}
	output   = &rule{kinds: isNumber | isNull, use: useOutput}
	one      = &rule{kinds: isNumber | isNull, use: useOne}
)

// unstored accepts false, and true with the grant. Null would mean the provider's default, which may be true.
var unstored = &rule{kinds: isBool, use: useFalse, grant: Stored}

// dataURL accepts a data: URL, which holds what it names, and any other with the grant.
var dataURL = &rule{kinds: isString | isNull, use: useData, grant: URLSources}
