package leak

import (
	_ "embed" // the rules
	"fmt"
	"slices"
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

// worthTrying lists the rules that may find something in a text, each once.
func (s *Rules) worthTrying(text string) []*rule {
	seen := make([]bool, len(s.byKeyword))
	tried := map[*rule]bool{}
	list := slices.Clip(s.always)
	s.keywords.Walk([]byte(strings.ToLower(text)), func(_, _, n int64) bool {
		if seen[n] {
			return true
		}
		seen[n] = true
		for _, r := range s.byKeyword[n] {
			if !tried[r] {
				tried[r] = true
				list = append(list, r)
			}
		}
		return true
	})
	return list
}
