package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sandboxrun/runner/journal"
	"sandboxrun/runner/state"
)

func TestChangesOfAllRunsAreStreamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := r.ended()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	d, j := r.begun()
	steps := []struct {
		event, word string
		then        func()
	}{
		{"snapshot", old.ID(), func() { r.say(j, journal.EventPhaseStarted, `{}`) }},
		{"run", `"running"`, func() { r.end(d, j) }},
		{"run", `"ended"`, func() {
			if a := r.call(http.MethodDelete, "/api/runs/"+old.ID(), ""); a.status != 204 {
				t.Errorf("%d %s", a.status, a.body)
			}
		}},
		{"removed", old.ID(), func() { go r.stop() }},
		{"stopping", "{}", func() {}},
	}
	if err := r.messages(req, func(m message) bool {
		if m.id != "" || !json.Valid([]byte(m.data)) {
			t.Errorf("%+v", m)
		}
		if m.event == steps[0].event && strings.Contains(m.data, steps[0].word) {
			steps[0].then()
			steps = steps[1:]
		}
		return true
	}); err != nil {
		t.Error(err)
	}
	if len(steps) > 0 {
		t.Errorf("never came: %s %s", steps[0].event, steps[0].word)
	}
}

// One WebSocket follows the changes of all runs and the whole journals of several.
func TestOneWebSocketFollowsManyRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first, firstText := r.many(300)
	second, secondText := r.many(50)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, _, err := websocket.Dial(ctx, "ws://"+r.addr+"/api/stream/ws", &websocket.DialOptions{Subprotocols: []string{"sandboxrun.v1", "bearer." + testToken}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(2 << 20)
	ask := func(text string) {
		if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	ask(`{"subscribe":"` + first.ID() + `"}`)
	ask(`{"subscribe":"` + second.ID() + `","from":1}`)
	ask(`{"subscribe":"0123456789abcdefghjkmnpqrs"}`)
	ask(`{"subscribe":"` + first.ID() + `","unsubscribe":"` + first.ID() + `"}`)
	ask(`{"subscribe":1}`)
	got := map[string]*strings.Builder{first.ID(): {}, second.ID(): {}}
	seen := map[string]int{}
	for seen["end"] < 2 || seen["error"] < 3 || seen["snapshot"] < 1 {
		_, data, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("%v after %v", err, seen)
		}
		var m struct {
			Event string `json:"event"`
			Run   string `json:"run"`
			Seq   int    `json:"seq"`
		}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		seen[m.Event]++
		if m.Seq > 0 {
			got[m.Run].Write(data)
			got[m.Run].WriteByte('\n')
		}
	}
	if got[first.ID()].String() != string(firstText) || got[second.ID()].String() != string(secondText) {
		t.Error("the events are not those of the journals")
	}
	live, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	ask(`{"subscribe":"` + live.ID() + `"}`)
	wait := func(word string) {
		for {
			_, data, err := c.Read(ctx)
			if err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			if strings.Contains(string(data), word) {
				return
			}
		}
	}
	wait(`"caught_up"`)
	ask(`{"unsubscribe":"` + live.ID() + `"}`)
	ask(`{"unsubscribe":"` + live.ID() + `"}`)
	r.end(live, j)
	wait(`"ended"`) // as a change of the list; its events are no longer sent
	go r.stop()
	for {
		_, data, err := c.Read(ctx)
		if err == nil {
			if strings.Contains(string(data), `"run_ended"`) {
				t.Errorf("an event after the end of a subscription: %s", data)
			}
			continue
		}
		if bad := (websocket.CloseError{}); !errors.As(err, &bad) || bad.Code != websocket.StatusServiceRestart {
			t.Error(err)
		}
		return
	}
}

// What becomes of runs is counted once, whichever process works on them; what had ended before is not.
func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	r.say(j, journal.EventPhaseStarted, `{}`)
	until := func(want ...string) string {
		t.Helper()
		text := ""
		for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // nothing announces a count
			text = string(r.call(http.MethodGet, "/metrics", "").body)
			missing := ""
			for _, w := range want {
				if !strings.Contains(text, "\n"+w+"\n") {
					missing = w
				}
			}
			if missing == "" {
				return text
			}
		}
		t.Fatalf("never came: %q in\n%s", want, text)
		return ""
	}
	until("sandboxrun_runs_active 1", "sandboxrun_queue_length 0")
	r.end(d, j)
	ended := `sandboxrun_runs_total{agent="none",status="success"} 1`
	until(ended, `sandboxrun_phase_seconds_count{phase="total"} 1`, `sandboxrun_run_seconds_count{agent="none"} 1`, "sandboxrun_workers_lost_total 0")
	if err := d.WriteWorker(state.Worker{SupersededBy: state.NewID()}); err != nil {
		t.Fatal(err)
	}
	second := r.ended() // from its beginning to its end between two looks
	text := until(`sandboxrun_runs_total{agent="none",status="success"} 2`)
	if strings.Contains(text, d.ID()) || strings.Contains(text, second.ID()) {
		t.Error("a metric names a run")
	}
}
