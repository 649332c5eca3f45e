package reading

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// expressions are those of the words that this file looks for.
var expressions = sync.OnceValue(func() map[string]*regexp.Regexp {
	t := loadTable()
	return map[string]*regexp.Regexp{
		"weak":      regexp.MustCompile(`(?i)` + t.expand("{weak}")),
		"lead":      regexp.MustCompile(`(?i)^` + t.expand("{lead}")),
		"trail":     regexp.MustCompile(`(?i)` + t.expand("{trail}") + `$`),
		"because":   regexp.MustCompile(`(?i)^` + t.expand("{because}")),
		"bends":     regexp.MustCompile(`(?i)` + t.expand("{bends}")),
		"hardbends": regexp.MustCompile(`(?i)` + t.expand("{hardbends}")),
		"forbid":    regexp.MustCompile(`(?i)^(?:` + t.expand("{forbid} |{zno}") + `)`),
		"demand":    regexp.MustCompile(`(?i)^` + t.expand("{demand}")),
		"list":      regexp.MustCompile(`(?i)` + t.expand("{list}")),
	}
})

// subjects are words by which one can tell that a clause is about what a kind judges.
var subjects = sync.OnceValue(func() map[string]*regexp.Regexp {
	t := loadTable()
	m := map[string]*regexp.Regexp{}
	for kind, words := range t.Subjects {
		m[kind] = regexp.MustCompile(`(?i)` + t.expand(words))
	}
	return m
})

// readText reads all clauses of a text. rest are the words of those that no pattern covers. why is a reason to read nothing.
//
// A clause that no pattern covers may bend what another one says: as an exception, a condition, a permission, a narrower subject. So it
// may only stand beside clauses that were read when it is a demand of its own; otherwise nothing of the sentence is read.
func (p *Patterns) readText(t *text) (checks []Check, rest []string, why string) {
	const bent = "the words that no pattern covers may change the meaning of the others"
	clauses, ok := t.clauses()
	if !ok {
		return nil, nil, "it has more than 40 clauses"
	}
	var open []piece
	for _, c := range clauses {
		got, left, why := p.readClause(t, c)
		if why != "" {
			return nil, nil, why
		}
		checks, open = append(checks, got...), append(open, left...)
	}
	if len(checks) == 0 {
		return nil, nil, ""
	}
	for _, o := range open {
		words := t.string(o.part)
		if bends(t, o) || !expressions()["demand"].MatchString(words) || p.sameSubject(words, checks) {
			return nil, nil, bent
		}
		rest = append(rest, t.words(o.part))
	}
	return checks, rest, ""
}

// bends says that a piece may change what another one means. A plain prohibition does not by its negation alone.
func bends(t *text, p piece) bool {
	joint, words := t.string(part{p.joint, p.begin}), t.string(p.part)
	words = expressions()["forbid"].ReplaceAllString(words, "")
	return expressions()["bends"].MatchString(joint) || expressions()["bends"].MatchString(words)
}

// clauses splits a text at the ends of sentences.
func (t *text) clauses() (list []part, ok bool) {
	begin := 0
	cut := func(end, next int) {
		if p := t.trim(part{begin, end}); p.begin < p.end {
			list = append(list, p)
		}
		begin = next
	}
	for i, r := range t.runes {
		last := i+1 == len(t.runes)
		switch {
		case r == '\n', r == '。', r == ';', r == '!' && (last || t.runes[i+1] != '='):
			cut(i, i+1)
		case r == '.' && numbered(t.string(part{begin, i})):
		case r == '.' && (last || t.runes[i+1] == ' ' || t.runes[i+1] == '\n' || wide(t.runes[i+1])):
			cut(i, i+1)
		case r == '?':
			cut(i+1, i+1) // a question keeps its mark, which no pattern has
		}
	}
	cut(len(t.runes), len(t.runes))
	return list, len(list) <= maxClauses
}

// numbered says that what stands before a full stop is the number of an item.
func numbered(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && len(s) < 3 && strings.Trim(s, "0123456789") == ""
}

// maxSpan bounds how many pieces of a clause one pattern may cover, and with it the number of trials.
const maxSpan = 6

// readClause reads one clause as a whole, and where no pattern covers it, the pieces between its commas and conjunctions.
func (p *Patterns) readClause(t *text, clause part) (checks []Check, open []piece, why string) {
	pieces := t.pieces(clause)
	if len(pieces) > maxClauses {
		return nil, nil, "it has more than 40 clauses"
	}
	for i := 0; i < len(pieces); {
		var got []Check
		next := i + 1
		for j := min(len(pieces), i+maxSpan); j > i && got == nil; j-- {
			span := part{pieces[i].begin, pieces[j-1].end}
			if got, why = p.readSpan(t, span); why != "" {
				return nil, nil, why
			}
			next = j
		}
		if got != nil {
			checks = append(checks, got...)
		} else if !t.explains(pieces[i].part) {
			open = append(open, pieces[i])
		}
		i = next
	}
	return checks, open, ""
}

// piece is a part of a clause; joint is where the words begin that join it to the one before.
type piece struct {
	part
	joint int
}

// pieces splits a clause at commas and conjunctions.
func (t *text) pieces(clause part) []piece {
	s := t.string(clause)
	var list []piece
	begin, joint := clause.begin, clause.begin
	add := func(end int) {
		if p := t.trim(part{begin, end}); p.begin < p.end {
			list = append(list, piece{p, joint})
		}
	}
	at := func(offset int) int { return clause.begin + utf8.RuneCountInString(s[:offset]) }
	for _, m := range expressions()["weak"].FindAllStringIndex(s, -1) {
		add(at(m[0]))
		begin, joint = at(m[1]), at(m[0])
	}
	add(clause.end)
	return list
}

// explains says that a piece only gives a reason.
func (t *text) explains(p part) bool {
	s := t.string(p)
	return expressions()["because"].MatchString(s) && !expressions()["hardbends"].MatchString(s)
}

// readSpan reads consecutive pieces as one clause; nil where no pattern covers every word.
func (p *Patterns) readSpan(t *text, span part) (checks []Check, why string) {
	if span.end-span.begin > maxClause {
		return nil, ""
	}
	words := t.words(span)
	s := t.string(span)
	for range 4 { // words of politeness and emphasis, which change nothing
		bare := expressions()["lead"].ReplaceAllString(s, "")
		bare = strings.TrimSpace(expressions()["trail"].ReplaceAllString(bare, ""))
		if bare == s || bare == "" {
			break
		}
		s = bare
	}
	return p.match(t, s, words)
}
