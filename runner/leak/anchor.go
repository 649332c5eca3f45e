package leak

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// anchor is a quick test of a text, which most rules allow: every match of such a rule holds one of the rule's keywords,
// and start matches from there. Where start matches at none of the keywords, the rule finds nothing, and its expression,
// which is many times slower, need not be run.
type anchor struct {
	start *regexp.Regexp
	max   int // length of what start can match and of the rune after it, in bytes
}

// Bounds of a quick test.
const (
	maxLeads    = 64 // beginnings of a match that are listed
	maxSpread   = 64 // repetitions after which start stops where the rule has no bound
	keywordsPer = 16 // bytes of text; with more keywords the expression itself is quicker
)

// newAnchor returns nil for an expression that allows no such test.
func newAnchor(expression string, keywords []string) *anchor {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil // the caller compiles it too, and reports this
	}
	re = withoutOptionalStart(re)
	leads, _ := leadsOf(re)
	for _, lead := range leads {
		if !slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(lead, strings.ToLower(k)) }) {
			return nil
		}
	}
	re = bounded(re, &syntax.Regexp{Op: syntax.OpEmptyMatch})
	start, err := regexp.Compile(`\A(?:` + re.String() + `)`)
	if err != nil {
		return nil
	}
	return &anchor{start: start, max: longest(re) + utf8.UTFMax}
}

// mayMatch says whether the rule may find something, given where the text has the rule's keywords.
func (a *anchor) mayMatch(text string, keywords []int) bool {
	if a == nil || len(keywords) > len(text)/keywordsPer {
		return true
	}
	return slices.ContainsFunc(keywords, func(at int) bool { return a.start.MatchString(text[at:min(len(text), at+a.max)]) })
}

// withoutOptionalStart leaves out what a match may begin with but need not, and conditions about what comes before.
func withoutOptionalStart(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return withoutOptionalStart(re.Sub[0])
	}
	if re.Op != syntax.OpConcat {
		return re
	}
	for i, sub := range re.Sub {
		switch sub.Op {
		case syntax.OpStar, syntax.OpQuest, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
			continue
		case syntax.OpRepeat:
			if sub.Min == 0 {
				continue
			}
		default:
		}
		subs := append([]*syntax.Regexp{withoutOptionalStart(sub)}, re.Sub[i+1:]...)
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: subs}
	}
	return re
}

// leadsOf lists the beginnings that a match may have, in lower case. whole says that each is a whole match.
func leadsOf(re *syntax.Regexp) (leads []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCapture:
		return leadsOf(re.Sub[0])
	case syntax.OpQuest:
		leads, whole = leadsOf(re.Sub[0])
		return append(leads, ""), whole
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 16 {
				return []string{""}, false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				leads = append(leads, string(unicode.ToLower(r)))
			}
		}
		slices.Sort(leads)
		return slices.Compact(leads), true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := leadsOf(sub)
			leads, whole = append(leads, more...), whole && all
		}
		return leads, whole
	case syntax.OpConcat:
		return leadsOfAll(re.Sub)
	case syntax.OpPlus:
		leads, _ = leadsOf(re.Sub[0])
		return leads, false
	default:
		return []string{""}, false
	}
}

// leadsOfAll is leadsOf for expressions one after the other.
func leadsOfAll(list []*syntax.Regexp) (leads []string, whole bool) {
	leads, whole = []string{""}, true
	for i := 0; whole && i < len(list); i++ {
		next, all := leadsOf(list[i])
		if len(leads)*len(next) > maxLeads {
			return leads, false
		}
		var longer []string
		for _, a := range leads {
			for _, b := range next {
				longer = append(longer, a+b)
			}
		}
		leads, whole = longer, all
	}
	return leads, whole
}

// endless says whether an expression has a part without a bound.
func endless(re *syntax.Regexp) bool {
	switch {
	case re.Op == syntax.OpStar, re.Op == syntax.OpPlus, re.Op == syntax.OpRepeat && re.Max < 0:
		return true
	}
	return slices.ContainsFunc(re.Sub, endless)
}

// bounded is an expression without endless parts that matches a beginning of every text that re and rest match. A part
// without a bound either ends within maxSpread repetitions, or these are the beginning.
func bounded(re, rest *syntax.Regexp) *syntax.Regexp {
	join := func(op syntax.Op, subs ...*syntax.Regexp) *syntax.Regexp { return &syntax.Regexp{Op: op, Sub: subs} }
	if !endless(re) {
		return join(syntax.OpConcat, re, rest)
	}
	least := re.Min
	switch re.Op {
	case syntax.OpCapture:
		return bounded(re.Sub[0], rest)
	case syntax.OpConcat:
		for _, sub := range slices.Backward(re.Sub) {
			rest = bounded(sub, rest)
		}
		return rest
	case syntax.OpAlternate:
		either := join(syntax.OpAlternate)
		for _, sub := range re.Sub {
			either.Sub = append(either.Sub, bounded(sub, rest))
		}
		return either
	case syntax.OpQuest:
		return join(syntax.OpAlternate, bounded(re.Sub[0], rest), rest)
	case syntax.OpStar:
		least = 0
	case syntax.OpPlus:
		least = 1
	default: // OpRepeat
	}
	switch one := re.Sub[0]; {
	case !endless(one):
		repeat := func(least, most int) *syntax.Regexp {
			return &syntax.Regexp{Op: syntax.OpRepeat, Min: least, Max: most, Sub: []*syntax.Regexp{one}}
		}
		return join(syntax.OpAlternate, join(syntax.OpConcat, repeat(least, least+maxSpread), rest), repeat(least+maxSpread, least+maxSpread))
	case least == 0:
		return join(syntax.OpEmptyMatch)
	default:
		return bounded(one, join(syntax.OpEmptyMatch))
	}
}

// longest is the length of the longest text that a bounded expression matches, in bytes.
func longest(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		if l := longest(sub); re.Op == syntax.OpAlternate {
			n = max(n, l)
		} else {
			n += l
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return utf8.UTFMax * len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpRepeat:
		return n * re.Max
	default:
		return n
	}
}
