package modelserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// start runs a scenario of steps until the test ends.
func start(t *testing.T, steps ...Step) *Server {
	t.Helper()
	s, err := Start(Scenario{Name: t.Name(), Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask sends a request of the agent's loop.
func ask(t *testing.T, s *Server, stream bool) *http.Response {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"model": "m", "max_tokens": 1000, "stream": stream, "tools": []map[string]string{{"name": "Bash"}},
		"messages": []map[string]any{
			{"role": "user", "content": "hello"},
			{"role": "assistant", "content": "hi"},
			{"role": "user", "content": []map[string]any{{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": []map[string]string{{"type": "text", "text": "no"}}}}},
			{"role": "user", "content": "go on"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return post(t, s, "/v1/messages?beta=true", body)
}

func post(t *testing.T, s *Server, path string, body []byte) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "secret")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// taken waits until a request has taken its step and so many remain. The
// clients of these tests fail on their own, so there is no end to put to it.
func taken(s *Server, remain int) {
	for s.Remaining() > remain {
		runtime.Gosched()
	}
}

// readEvents reads a stream of server-sent events.
func readEvents(r io.Reader) (list []map[string]any, err error) {
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		if data, ok := strings.CutPrefix(scan.Text(), "data: "); ok {
			var e map[string]any
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				return nil, err
			}
			list = append(list, e)
		}
	}
	return list, scan.Err()
}

var whole = Step{
	Thinking: "I think about it for a while, in more than one delta.",
	Text:     "Ünïcödé text that is longer than one delta, to see it put together again.",
	Tools:    []ToolUse{Tool("Bash", map[string]string{"command": "echo one two three four five six"}), Tool("Read", map[string]any{})},
}

func TestStreamAndDocumentSayTheSame(t *testing.T) {
	t.Parallel()
	s := start(t, whole, whole)
	var doc struct {
		StopReason string           `json:"stop_reason"`
		Content    []map[string]any `json:"content"`
	}
	if err := json.NewDecoder(ask(t, s, false).Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	list, err := readEvents(ask(t, s, true).Body)
	if err != nil {
		t.Fatal(err)
	}

	var parts []string
	var stop string
	for _, e := range list {
		switch e["type"] {
		case "content_block_start":
			parts = append(parts, "")
		case "content_block_delta":
			d := e["delta"].(map[string]any)
			for _, field := range []string{"text", "thinking", "partial_json"} {
				if piece, ok := d[field].(string); ok {
					parts[int(e["index"].(float64))] += piece
				}
			}
		case "message_delta":
			stop, _ = e["delta"].(map[string]any)["stop_reason"].(string)
		}
	}
	want := []string{whole.Thinking, whole.Text, string(whole.Tools[0].Input), string(whole.Tools[1].Input)}
	if strings.Join(parts, "|") != strings.Join(want, "|") || stop != "tool_use" {
		t.Errorf("stream = %q (%s), want %q", parts, stop, want)
	}
	if doc.StopReason != "tool_use" || len(doc.Content) != 4 || doc.Content[1]["text"] != whole.Text || doc.Content[2]["name"] != "Bash" {
		t.Errorf("document = %+v", doc)
	}
	if first, last := list[0]["type"], list[len(list)-1]["type"]; first != "message_start" || last != "message_stop" {
		t.Errorf("stream goes from %s to %s", first, last)
	}
}

func TestStepsAreTakenInOrderAndRepeated(t *testing.T) {
	t.Parallel()
	s := start(t,
		Step{Times: 2, Fault: &Fault{Status: 429, Type: "rate_limit_error", Message: "slow", RetryAfter: 7}},
		Step{Text: "one"}, Step{Text: "two"})
	if got := s.Remaining(); got != 3 {
		t.Errorf("remaining = %d, want 3", got)
	}
	for range 2 {
		if r := ask(t, s, true); r.StatusCode != 429 || r.Header.Get("Retry-After") != "7" {
			t.Errorf("answer = %d %v", r.StatusCode, r.Header)
		}
	}
	for _, want := range []string{"one", "two", "The script has ended.", "The script has ended."} {
		b, err := io.ReadAll(ask(t, s, false).Body)
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("answer = %s, %v; want %q", b, err, want)
		}
	}
	if got := s.Remaining(); got != 0 {
		t.Errorf("remaining = %d, want 0", got)
	}
}

func TestSideRequestsTakeNoStep(t *testing.T) {
	t.Parallel()
	s := start(t, Step{Text: "the step"})
	for path, body := range map[string]string{
		"/v1/messages":              `{"model":"small","max_tokens":100,"messages":[{"role":"user","content":"a title, please"}]}`,
		"/v1/messages?beta=true":    `{"model":"small","max_tokens":1,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"quota"}]}`,
		"/v1/messages/count_tokens": `{"model":"m","tools":[{"name":"Bash"}],"messages":[]}`,
	} {
		if r := post(t, s, path, []byte(body)); r.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
	if r := post(t, s, "/v1/messages", []byte(`{"model":`)); r.StatusCode != http.StatusBadRequest {
		t.Errorf("malformed request: status %d", r.StatusCode)
	}
	if r := post(t, s, "/v1/files", nil); r.StatusCode != http.StatusNotFound {
		t.Errorf("other endpoint: status %d", r.StatusCode)
	}
	if got := s.Remaining(); got != 1 {
		t.Errorf("remaining = %d, want the step untouched", got)
	}
}

func TestRequestsAreRemembered(t *testing.T) {
	t.Parallel()
	s := start(t, Step{Text: "ok"})
	_, _ = io.Copy(io.Discard, ask(t, s, true).Body)
	got := s.Requests()
	if len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	r := got[0]
	if r.Path != "/v1/messages" || r.Key != "secret" || r.Model != "m" || !r.Stream || !r.Main || r.Messages != 4 ||
		r.Prompt != "go on" || len(r.Tools) != 1 || len(r.Results) != 1 || r.Results[0] != (Result{ID: "t1", Text: "no", IsError: true}) {
		t.Errorf("request = %+v", r)
	}
}

func TestCutAnswersEndInTheMiddle(t *testing.T) {
	t.Parallel()
	cut := whole
	cut.Cut, cut.Times = true, 2
	s := start(t, cut)
	list, err := readEvents(ask(t, s, true).Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("stream ended with %v", err)
	}
	if last := list[len(list)-1]; last["index"] != 3.0 {
		t.Errorf("last event = %v, want one of the last block", last)
	}
	if b, err := io.ReadAll(ask(t, s, false).Body); !errors.Is(err, io.ErrUnexpectedEOF) || json.Valid(b) {
		t.Errorf("document ended with %v: %s", err, b)
	}
}

func TestCloseEndsAnswersThatWait(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]Step{"silent": {Silent: true}, "delayed": {DelayMS: 3_600_000, Text: "late"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(Scenario{Steps: []Step{step}})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				resp, err := client.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(`{"max_tokens":9,"tools":[{"name":"x"}]}`))
				if err == nil {
					_ = resp.Body.Close()
				}
				done <- err
			}()
			taken(s, 0)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := <-done; err == nil {
				t.Error("there was an answer")
			}
		})
	}
}

func TestDelayedAnswersCome(t *testing.T) {
	t.Parallel()
	s := start(t, Step{DelayMS: 1, Text: "late"})
	if b, err := io.ReadAll(ask(t, s, false).Body); err != nil || !strings.Contains(string(b), "late") {
		t.Errorf("answer = %s, %v", b, err)
	}
}
