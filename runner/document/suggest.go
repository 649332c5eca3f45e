package document

import (
	"strings"
	"unicode"

	"github.com/xrash/smetrics"
)

const (
	// minSimilarity is the least similarity (0 to 1) of a name that is suggested for another one. Transposed and missing
	// letters stay above it; words that only share a beginning do not.
	minSimilarity = 0.87
	// maxCompared bounds the letters of a stranger's name that is compared: the time grows with its square.
	maxCompared = 64
)

// Nearest returns the name of the list that the writer of word probably meant: one that differs in case, hyphens or
// underscores only, else the one most similar; "" when none is similar enough.
func Nearest(word string, names []string) string {
	plain := plainName(word)
	if plain == "" || len(word) > maxCompared {
		return ""
	}
	best, most := "", minSimilarity
	for _, name := range names {
		other := plainName(name)
		if other == plain {
			return name
		}
		if s := smetrics.JaroWinkler(plain, other, 0.7, 4); s > most {
			best, most = name, s
		}
	}
	return best
}

// plainName is a name in lower case, without what separates its words.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
