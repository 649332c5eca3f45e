package leak

import (
	_ "embed" // the rules
	"fmt"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/pelletier/go-toml/v2"
)

//go:embed gitleaks.toml
var gitleaks []byte

// Rules is a set of rules. It is safe for concurrent use.
type Rules struct {
	rules     []*rule
	global    *allowance
	keywords  *ahocorasick.Trie
	byKeyword [][]*rule // by the number of the keyword
	always    []*rule   // those without keywords
	byPath    []*rule   // those about paths alone
}

// Default returns the rules of this package, read on the first call.
func Default() (*Rules, error) { return defaultRules() }

var defaultRules = sync.OnceValues(func() (*Rules, error) { return parse(gitleaks) })

func parse(text []byte) (*Rules, error) {
	var f ruleFile
	if err := toml.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	s := &Rules{}
	var err error
	if s.global, err = f.Allowlist.compiled(); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	number := map[string]int{}
	trie := ahocorasick.NewTrieBuilder()
	for _, t := range f.Rules {
		r := newRule(t)
		s.rules = append(s.rules, r)
		switch {
		case t.Regex == "":
			s.byPath = append(s.byPath, r)
		case len(t.Keywords) == 0:
			s.always = append(s.always, r)
		}
		for _, k := range t.Keywords {
			k = strings.ToLower(k)
			n, ok := number[k]
			if !ok {
				n = len(number)
				number[k] = n
				s.byKeyword = append(s.byKeyword, nil)
				trie.AddString(k)
			}
			s.byKeyword[n] = append(s.byKeyword[n], r)
		}
	}
	s.keywords = trie.Build()
	return s, nil
}

// trial is a rule that may find something in a text.
type trial struct {
	rule *rule
	at   []int // where the text has the rule's keywords
}

// worthTrying lists the rules that may find something in a text, each once. exact says that the places of the keywords
// are known.
func (s *Rules) worthTrying(text string) (list []*trial, exact bool) {
	lower, exact := lowerASCII(text)
	for _, r := range s.always {
		list = append(list, &trial{rule: r})
	}
	trials := map[*rule]*trial{}
	s.keywords.Walk(lower, func(end, n, keyword int64) bool {
		for _, r := range s.byKeyword[keyword] {
			t := trials[r]
			if t == nil {
				t = &trial{rule: r}
				trials[r] = t
				list = append(list, t)
			}
			t.at = append(t.at, int(end-n+1))
		}
		return true
	})
	return list, exact
}

// folded are the runes outside of ASCII that stand for a letter of ASCII where case does not matter.
const folded = "\u212a\u017f\u0130"

// lowerASCII is a text with its letters in lower case. exact says that every byte is where it was, and that no rune
// outside of ASCII may be taken for one in it.
func lowerASCII(text string) (lower []byte, exact bool) {
	if strings.ContainsAny(text, folded) {
		return []byte(strings.ToLower(text)), false
	}
	lower = []byte(text)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return lower, true
}
