package transcript_test

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"sandboxrun/agents/scripted/transcript"
)

func TestPlayerTakesTheHostsRandomTextForTheRecordedOne(t *testing.T) {
	t.Parallel()
	was, is := rand.Text(), rand.Text()
	ask := func(word string) string { return `{"name":"custom:` + word + `"}` }
	entries := masked(recordEcho(t, ask(was), ask(was)))
	synctest.Test(t, func(t *testing.T) {
		p := transcript.Play(entries, nil)
		s := speak(t.Context(), p, ask(is), ask(is))
		if err := p.End(); err != nil {
			t.Error(err)
		}
		if strings.Count(s.Out, is) != 2 || strings.Contains(s.Out, was) {
			t.Errorf("the host heard %s", s.Out)
		}
		if back := string(p.Recorded([]byte(s.Out))); strings.Count(back, was) != 2 || strings.Contains(back, is) {
			t.Errorf("back to the recording: %s", back)
		}
	})
	// One that changes where the recorded one did not is something else.
	if _, err := playEcho(t, entries, ask(is), ask(rand.Text())); err == nil {
		t.Error("another random text passed for the first one")
	}
	if b, err := json.Marshal(entries); err != nil || !strings.Contains(string(b), was) {
		t.Errorf("recorded %s, %v", b, err)
	}
}
