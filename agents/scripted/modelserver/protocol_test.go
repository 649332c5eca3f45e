package modelserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sandboxrun/internal/wire"
)

func TestEveryWireSaysTheWholeStep(t *testing.T) {
	t.Parallel()
	overWires(t, func(t *testing.T, sp speaker) {
		s := start(t, whole, whole)
		prefix := "call"
		if sp.wire == wire.AnthropicMessages {
			prefix = "toolu"
		}
		for i, stream := range []bool{true, false} {
			want := heard{thinking: whole.Thinking, text: whole.Text, stop: sp.stop, in: 100, out: 20, calls: []call{
				{id(prefix, 3*i+2), "Bash", string(whole.Tools[0].Input)}, {id(prefix, 3*i+3), "Read", "{}"},
			}}
			if got := sp.hear(t, sp.ask(t, s, stream)); !reflect.DeepEqual(got, want) {
				t.Errorf("stream %t:\n got %+v\nwant %+v", stream, got, want)
			}
		}
	})
}

func TestEveryWireIsAnswered(t *testing.T) {
	t.Parallel()
	for _, w := range wire.All() {
		if !slices.ContainsFunc(speakers(), func(sp speaker) bool { return sp.wire == w }) {
			t.Errorf("internal/wire has %s: the scripted model needs a protocol for it, and speaker_test.go a speaker", w)
		}
	}
}

func TestEveryWireHasItsOwnEnds(t *testing.T) {
	t.Parallel()
	ends := map[wire.Wire][4]string{
		wire.AnthropicMessages: {"end_turn", "max_tokens", "refusal", "other"},
		wire.OpenAIResponses:   {"completed", "incomplete max_output_tokens", "incomplete content_filter", "incomplete other"},
		wire.OpenAIChat:        {"stop", "length", "content_filter", "other"},
		wire.GoogleGenerate:    {"STOP", "MAX_TOKENS", "SAFETY", "other"},
	}
	overWires(t, func(t *testing.T, sp speaker) {
		var steps []Step
		for _, stop := range []string{"", "max_tokens", "refusal", "other"} {
			steps = append(steps, Step{Text: "x", StopReason: stop, Times: 2})
		}
		s := start(t, steps...)
		for _, want := range ends[sp.wire] {
			for _, stream := range []bool{true, false} {
				if got := sp.hear(t, sp.ask(t, s, stream)); got.stop != want || got.text != "x" {
					t.Errorf("stream %t: %+v, want the end %q", stream, got, want)
				}
			}
		}
	})
}

func TestEveryWireIsUnderstood(t *testing.T) {
	t.Parallel()
	messages := map[wire.Wire]int{wire.AnthropicMessages: 4, wire.OpenAIResponses: 7, wire.OpenAIChat: 5, wire.GoogleGenerate: 3}
	overWires(t, func(t *testing.T, sp speaker) {
		s := start(t, Step{Text: "ok"})
		_ = sp.hear(t, sp.ask(t, s, true))
		path, _, _ := strings.Cut(sp.path(true), "?")
		want := Request{
			Method: http.MethodPost, Path: path, Wire: sp.wire, Key: "secret", Model: "m", Stream: true, Main: true,
			Messages: messages[sp.wire], Tools: []string{"Bash"}, Prompt: "go on", Results: []Result{{ID: "t1", Text: "a file"}},
		}
		if got := s.Requests(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("requests = %+v\nwant %+v", got, want)
		}
	})
}

func TestFaultsTakeTheFormOfTheWire(t *testing.T) {
	t.Parallel()
	overWires(t, func(t *testing.T, sp speaker) {
		for status, want := range sp.faults {
			s := start(t, Step{Fault: &Fault{Status: status, Message: "no", RetryAfter: 7}}, Step{Fault: &Fault{Status: status, Type: "own"}})
			for _, want := range []string{want, "own"} {
				r := sp.ask(t, s, true)
				v := decode(t, r.Body)
				if r.StatusCode != status || sp.faultType(v) != want {
					t.Errorf("status %d: answer %d %v, want %s", status, r.StatusCode, v, want)
				}
				if want == "own" {
					continue
				}
				if r.Header.Get("Retry-After") != "7" || object(v["error"])["message"] != "no" {
					t.Errorf("status %d: header %v of %v", status, r.Header, v)
				}
			}
		}
	})
}

func TestMalformedRequestsGetTheFaultOfTheWire(t *testing.T) {
	t.Parallel()
	overWires(t, func(t *testing.T, sp speaker) {
		s := start(t, Step{Text: "the step"})
		for _, body := range []string{`{"model":`, `[]`, `{"messages":7,"input":7,"contents":7}`} {
			r := post(t, s, sp.path(true), []byte(body))
			if v := decode(t, r.Body); r.StatusCode != http.StatusBadRequest || sp.faultType(v) != sp.faults[400] {
				t.Errorf("%s: answer %d %v", body, r.StatusCode, v)
			}
		}
		if s.Remaining() != 1 || len(s.Requests()) != 0 {
			t.Errorf("%d steps remain after %+v", s.Remaining(), s.Requests())
		}
	})
}

func TestCutAnswersEndInTheLastBlock(t *testing.T) {
	t.Parallel()
	overWires(t, func(t *testing.T, sp speaker) {
		cut := Step{Thinking: "hm", Text: strings.Repeat("text that is cut in its middle. ", 8), Cut: true, Times: 2}
		s := start(t, cut, Step{Text: "hm", Tools: []ToolUse{Tool("Bash", map[string]string{"command": strings.Repeat("x", 200)})}, Cut: true})
		var h heard
		err := sp.listen(&h, sp.ask(t, s, true).Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) || h.thinking != "hm" || h.stop != "" ||
			h.text == "" || len(h.text) >= len(cut.Text) || !strings.HasPrefix(cut.Text, h.text) {
			t.Errorf("stream ended with %v: %+v", err, h)
		}
		if b, err := io.ReadAll(sp.ask(t, s, false).Body); !errors.Is(err, io.ErrUnexpectedEOF) || json.Valid(b) {
			t.Errorf("document ended with %v: %s", err, b)
		}
		h = heard{}
		err = sp.listen(&h, sp.ask(t, s, true).Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) || h.text != "hm" || h.stop != "" {
			t.Errorf("stream of a tool call ended with %v: %+v", err, h)
		}
		for _, c := range h.calls {
			if json.Valid([]byte(c.args)) {
				t.Errorf("the tool call is whole: %+v", c)
			}
		}
	})
}

func TestSilentAnswersEndWithTheClient(t *testing.T) {
	t.Parallel()
	overWires(t, func(t *testing.T, sp speaker) {
		s := start(t, Step{Silent: true}, Step{Text: "here"})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+sp.path(true), strings.NewReader(fmt.Sprintf(sp.body, true)))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			resp, err := client.Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			done <- err
		}()
		taken(s, 1)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the silent answer: %v", err)
		}
		s.work.Wait() // the handler has left without Close
		if got := sp.hear(t, sp.ask(t, s, true)); got.text != "here" {
			t.Errorf("the next answer: %+v", got)
		}
	})
}

func TestSideRequestsGetWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	overWires(t, func(t *testing.T, sp speaker) {
		s := start(t, Step{Tools: whole.Tools[:1]})
		want := `{"choice":"b","list":[],"reason":"ok","score":3,"sure":false}`
		if sp.wire == wire.AnthropicMessages {
			want = "ok" // has no schemas
		}
		for range 2 {
			if got := sp.hear(t, post(t, s, sp.path(false), []byte(sp.side))); got.text != want || got.calls != nil {
				t.Errorf("answer = %+v, want %s", got, want)
			}
		}
		if r := s.Requests()[0]; r.Main || r.Prompt != "a title" || r.Wire != sp.wire {
			t.Errorf("request = %+v", r)
		}
		// Neither steps nor the numbers of the loop's tool calls are used up.
		if got := sp.hear(t, sp.ask(t, s, true)); len(got.calls) != 1 || !strings.HasSuffix(got.calls[0].id, "_000000000002") {
			t.Errorf("answer = %+v", got)
		}
	})
}
