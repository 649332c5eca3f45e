package opencode

import (
	"encoding/json"
	"fmt"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// broke counts a connection to the provider that broke, and says how long to
// wait before the next attempt; false when the turn was stopped instead.
func (t *peer) broke(message string) (wait time.Duration, ok bool) {
	t.end.breaks++
	message = cli.Head(message, cli.MaxWords)
	if t.end.breaks > maxRetries {
		t.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeFailed, Message: fmt.Sprintf("the connection to the provider broke %d times: %s", t.end.breaks, message)})
		return 0, false
	}
	t.Emit(agents.KindSystemMessage, agents.Message{Text: fmt.Sprintf("the connection to the provider broke (%s): retry %d", message, t.end.breaks)})
	wait = time.Duration(t.end.breaks) * t.bounds.retry
	t.Pause = wait
	return wait, true
}

// offline handles that the program waits for a network, and asks the world
// whether there is one. In a box there never is, so it is told to go on.
func (t *peer) offline(properties json.RawMessage) bool {
	var p struct {
		ID      string `json:"id"`
		Message string `json:"message"`
	}
	if cli.Decode(properties, &p) != nil || !requestIDPattern.MatchString(p.ID) {
		return false
	}
	if wait, ok := t.broke(p.Message); ok {
		t.tell(requestReply{path: "/network/" + p.ID + "/reply", wait: wait})
	}
	return true
}

// brokenOff says whether the session came to rest because a connection broke
// after a part of the answer had come, with a program that does not repeat that.
func (t *peer) brokenOff() bool {
	err := t.end.err
	return t.program.givesUp && err != nil && err.Data.Retryable && err.Data.Status == 0 && !t.Stopping()
}

// goOn is what the model is told when its answer broke off.
const goOn = "The connection broke while you were answering, and your last answer was lost. Go on with the task."

// closed handles the end of everything that one prompt led to. Only then has the
// session no more to tell about an answer that broke off, and can be told to go on.
func (t *peer) closed(properties json.RawMessage) bool {
	var p struct {
		Session string `json:"sessionID"`
	}
	if cli.Decode(properties, &p) != nil || p.Session == "" {
		return false
	}
	if p.Session != t.session || t.end.over || !t.brokenOff() {
		return true
	}
	if wait, ok := t.broke(t.end.err.message()); ok {
		t.end.began, t.end.err = false, nil
		r := t.prompt(t.session, goOn)
		r.wait = wait
		t.tell(r)
	}
	return true
}
