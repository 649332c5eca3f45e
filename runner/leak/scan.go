package leak

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// A text is looked at in pieces, so that the time between two looks at the
// clock is bounded. What lies on the border of two is in both.
const (
	pieceBytes   = 32 << 10
	overlapBytes = 8 << 10
)

// maxHits bounds what is found in one text.
const maxHits = 100

// Hit is something that looks like a secret. What it is stays inside.
type Hit struct {
	Rule   string
	Line   int // 1 for the first of the text
	secret string
}

// Fingerprint names the secret under its rule without giving it away: the first
// 16 hexadecimal digits of a SHA-256.
func (h Hit) Fingerprint() string {
	sum := sha256.Sum256([]byte("sandboxrun secret\x00" + h.Rule + "\x00" + h.secret))
	return hex.EncodeToString(sum[:8])
}

// In says whether a text holds the secret.
func (h Hit) In(text string) bool { return strings.Contains(text, h.secret) }

// Path returns the rule by which the name of a file alone says that it holds
// secrets, "" for none.
func (s *Rules) Path(path string) (id string, err error) {
	for _, r := range s.byPath {
		c, err := r.compile()
		if err != nil {
			return "", err
		}
		if c.path.MatchString(path) {
			return r.ID, nil
		}
	}
	return "", nil
}

// Scan returns what looks like a secret in a text that stands in the file at
// path, at most a hundred hits in the order of their lines. The error is a
// context that ended before the text did.
func (s *Rules) Scan(ctx context.Context, path, text string) ([]Hit, error) {
	var hits []Hit
	line := 1
	for {
		if err := context.Cause(ctx); err != nil {
			return hits, err
		}
		piece := text[:min(len(text), pieceBytes)]
		found, err := s.piece(path, piece)
		if err != nil {
			return hits, err
		}
		for _, h := range found {
			if h.Line += line - 1; !slices.Contains(hits, h) && len(hits) < maxHits {
				hits = append(hits, h)
			}
		}
		if len(piece) == len(text) || len(hits) == maxHits {
			return withoutGuesses(hits), nil
		}
		step := len(piece) - overlapBytes
		line += strings.Count(text[:step], "\n")
		text = text[step:]
	}
}

func (s *Rules) piece(path, text string) ([]Hit, error) {
	var hits []Hit
	trials, exact := s.worthTrying(text)
	for _, trial := range trials {
		r := trial.rule
		c, err := r.compile()
		if err != nil {
			return nil, err
		}
		if exact && !c.anchor.mayMatch(text, trial.at) {
			continue
		}
		if c.path != nil && !c.path.MatchString(path) {
			continue
		}
		for _, loc := range c.content.FindAllStringSubmatchIndex(text, maxHits) {
			secret := r.secret(text, loc)
			if r.Entropy > 0 && entropy(secret) <= r.Entropy {
				continue
			}
			f := finding{path: path, line: lineAt(text, loc[0], loc[1]), match: strings.Trim(text[loc[0]:loc[1]], "\n"), secret: secret}
			if s.excused(r, c, f) {
				continue
			}
			at := loc[0] + strings.Index(text[loc[0]:loc[1]], secret)
			hits = append(hits, Hit{Rule: r.ID, Line: 1 + strings.Count(text[:at], "\n"), secret: secret})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return a.Line - b.Line })
	return hits, nil
}

func (s *Rules) excused(r *rule, c *compiled, f finding) bool {
	if s.global.excuses(f, r.ID == guess) {
		return true
	}
	return slices.ContainsFunc(c.allow, func(a *allowance) bool { return a.excuses(f, true) })
}

// lineAt are the whole lines that hold text[from:to].
func lineAt(text string, from, to int) string {
	begin := strings.LastIndexByte(text[:from], '\n') + 1
	if end := strings.IndexByte(text[to:], '\n'); end >= 0 {
		return text[begin : to+end]
	}
	return text[begin:]
}

// withoutGuesses leaves out guesses about lines of which more is known.
func withoutGuesses(hits []Hit) []Hit {
	sure := map[int]bool{}
	for _, h := range hits {
		if h.Rule != guess {
			sure[h.Line] = true
		}
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Rule == guess && sure[h.Line] })
}

// Named is the hit of a rule about paths.
func Named(rule, path string) Hit { return Hit{Rule: rule, Line: 1, secret: path} }
