package leak

import (
	"fmt"
	"math"
	"regexp"
	"sync"
)

// guess is the rule that knows no issuer's form, only what is likely.
const guess = "generic-api-key"

// ruleFile is what of gitleaks' configuration has a meaning here.
type ruleFile struct {
	Allowlist allowText  `toml:"allowlist"`
	Rules     []ruleText `toml:"rules"`
}

type ruleText struct {
	ID          string      `toml:"id"`
	Regex       string      `toml:"regex"`
	Path        string      `toml:"path"`
	SecretGroup int         `toml:"secretGroup"`
	Entropy     float64     `toml:"entropy"`
	Keywords    []string    `toml:"keywords"`
	Allowlists  []allowText `toml:"allowlists"`
}

// rule is one way to know a secret. Its expressions are compiled when a text
// first has one of its keywords: most never do.
type rule struct {
	ruleText
	compile func() (*compiled, error)
}

type compiled struct {
	content *regexp.Regexp // nil for a rule about paths alone
	path    *regexp.Regexp // nil for any
	allow   []*allowance
	anchor  *anchor // nil for none
}

func newRule(t ruleText) *rule {
	return &rule{ruleText: t, compile: sync.OnceValues(func() (*compiled, error) {
		c, err := t.compiled()
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", t.ID, err)
		}
		return c, nil
	})}
}

func (t ruleText) compiled() (*compiled, error) {
	c := &compiled{}
	for _, e := range []struct {
		text string
		to   **regexp.Regexp
	}{{t.Regex, &c.content}, {t.Path, &c.path}} {
		if e.text == "" {
			continue
		}
		re, err := regexp.Compile(e.text)
		if err != nil {
			return nil, err
		}
		*e.to = re
	}
	c.anchor = newAnchor(t.Regex, t.Keywords)
	for _, a := range t.Allowlists {
		allow, err := a.compiled()
		if err != nil {
			return nil, err
		}
		c.allow = append(c.allow, allow)
	}
	return c, nil
}

// secret is the part of a match that is the secret itself.
func (r *rule) secret(text string, loc []int) string {
	group := func(i int) string {
		if 2*i+1 >= len(loc) || loc[2*i] < 0 {
			return ""
		}
		return text[loc[2*i]:loc[2*i+1]]
	}
	if r.SecretGroup > 0 {
		return group(r.SecretGroup)
	}
	for i := 1; 2*i < len(loc); i++ {
		if s := group(i); s != "" {
			return s
		}
	}
	return group(0)
}

// entropy is Shannon's, of the bytes of a text, in bits per byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
