package leak

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sandboxrun/internal/testenv"
)

// plainRules are the rules without their quick tests.
func plainRules(t testing.TB) *Rules {
	t.Helper()
	s, err := parse(gitleaks)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.rules {
		compile := r.compile
		r.compile = func() (*compiled, error) {
			c, err := compile()
			if err != nil {
				return nil, err
			}
			slow := *c
			slow.anchor = nil
			return &slow, nil
		}
	}
	return s
}

// sample writes a text that an expression matches, but for its conditions about what is next to it.
func sample(random *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	times := func(least, most int) {
		for range least + random.IntN(most-least+1) {
			sample(random, b, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 && random.IntN(2) == 0 {
			text = strings.ToUpper(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		i := 2 * random.IntN(len(re.Rune)/2)
		if r := re.Rune[i] + random.Int32N(re.Rune[i+1]-re.Rune[i]+1); utf8.ValidRune(r) {
			b.WriteRune(r)
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte(' ' + random.IntN(90)))
	case syntax.OpCapture:
		sample(random, b, re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(random, b, sub)
		}
	case syntax.OpAlternate:
		sample(random, b, re.Sub[random.IntN(len(re.Sub))])
	case syntax.OpStar:
		times(0, 100)
	case syntax.OpPlus:
		times(1, 100)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 100
		}
		times(re.Min, most)
	default: // conditions
	}
}

// sameHits compares what the rules find with and without their quick tests.
func sameHits(t *testing.T, plain *Rules, text string) int {
	t.Helper()
	got, err := rules(t).Scan(t.Context(), "src/a.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := plain.Scan(t.Context(), "src/a.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q: %+v, want %+v", text, got, want)
	}
	return len(want)
}

func TestQuickTestsChangeNoResult(t *testing.T) {
	t.Parallel()
	plain, random, found, quick := plainRules(t), rand.New(rand.NewPCG(5, 6)), 0, 0
	tries := 2 // of each rule, and a quarter of them almost match
	if testenv.All() {
		tries = 12
	}
	filler := strings.Repeat("the quick brown fox\n", 300) // keywords are few, as in most texts
	for _, r := range rules(t).rules {
		if r.Regex == "" {
			continue
		}
		re, err := syntax.Parse(r.Regex, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if newAnchor(r.Regex, r.Keywords) != nil {
			quick++
		}
		for range tries {
			var b strings.Builder
			sample(random, &b, re)
			text := b.String()
			if at := random.IntN(len(text) + 1); random.IntN(4) == 3 { // almost a match
				text = text[:at] + []string{"~", "k", "\n", "\xff", "\u212a", "\u017f"}[random.IntN(6)] + text[at:]
			}
			cut := random.IntN(len(filler))
			found += sameHits(t, plain, filler[:cut]+" \""+text+"\" "+filler[cut:])
			found += sameHits(t, plain, text)
		}
	}
	if quick < 180 || found < 80*tries {
		t.Errorf("%d rules have quick tests, %d secrets were found", quick, found)
	}
}

func TestLettersOfOtherScriptsCountAsTheirLookalikes(t *testing.T) {
	t.Parallel()
	plain := plainRules(t)
	for _, word := range []string{"api_key", "api_\u212aey", "\u017fecret", "\u0130 secret", "to\u212aen"} {
		sameHits(t, plain, strings.Repeat("ordinary words\n", 300)+"key "+word+" = \""+random40+"\"\n")
	}
}

func FuzzQuickTests(f *testing.F) {
	plain := plainRules(f)
	for _, seed := range []string{"api_key = \"" + random40 + "\"", awsID + " " + github + " " + stripe, "key: \u212a\xff\u017fecret=" + random40} {
		f.Add(seed)
	}
	filler := strings.Repeat("the quick brown fox\n", 300)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 4<<10 {
			sameHits(t, plain, filler+text+"\n"+filler)
		}
	})
}
