package transcript

import (
	"bytes"
	"regexp"
)

// randomText has the form of what crypto/rand.Text makes.
var randomText = regexp.MustCompile(`[A-Z2-7]{26}`)

// chance knows which random text of a host stands for which of the recording.
type chance struct {
	live     map[string][]byte // by the recorded one
	recorded map[string][]byte // by the live one
}

func newChance() *chance {
	return &chance{live: map[string][]byte{}, recorded: map[string][]byte{}}
}

// bind learns from a pair of texts that may say the same: where one has a random
// text that was not seen before, the other's is taken for it.
func (c *chance) bind(recorded, live []byte) {
	was, is := randomText.FindAll(recorded, -1), randomText.FindAll(live, -1)
	if len(was) != len(is) {
		return
	}
	for i := range was {
		_, known := c.live[string(was[i])]
		_, taken := c.recorded[string(is[i])]
		if !known && !taken {
			c.live[string(was[i])], c.recorded[string(is[i])] = bytes.Clone(is[i]), bytes.Clone(was[i])
		}
	}
}

// toLive puts the host's random texts for the recorded ones, toRecorded the
// other way around.
func (c *chance) toLive(text []byte) []byte     { return translate(text, c.live) }
func (c *chance) toRecorded(text []byte) []byte { return translate(text, c.recorded) }

func translate(text []byte, words map[string][]byte) []byte {
	if len(words) == 0 {
		return text
	}
	return randomText.ReplaceAllFunc(text, func(word []byte) []byte {
		if w, ok := words[string(word)]; ok {
			return w
		}
		return word
	})
}
