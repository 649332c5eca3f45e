package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// conversation speaks to a server by hand-made lines.
type conversation struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Scanner
	over chan error
}

func converse(t *testing.T, through func(io.Reader) io.Reader) *conversation {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &conversation{t: t, in: inW, out: bufio.NewScanner(outR), over: make(chan error, 1)}
	c.out.Buffer(nil, 4<<20)
	go func() {
		c.over <- New(Options{Log: slog.New(slog.DiscardHandler)}).Serve(t.Context(), through(inR), outW)
		_ = outW.Close()
	}()
	return c
}

func (c *conversation) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// hear reads the next answer.
func (c *conversation) hear() (answer map[string]any) {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("no answer: %v", c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), &answer); err != nil {
		c.t.Fatalf("%v: %s", err, c.out.Bytes())
	}
	return answer
}

// end ends the client and waits for the server.
func (c *conversation) end() {
	c.t.Helper()
	_ = c.in.Close()
	select {
	case err := <-c.over:
		if err != nil {
			c.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		c.t.Error("the server outlives its client")
	}
}

func asItComes(r io.Reader) io.Reader { return r }

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping  = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
)

func TestAConversationMayArriveByteByByte(t *testing.T) {
	t.Parallel()
	c := converse(t, iotest.OneByteReader)
	defer c.end()
	c.say(fmt.Sprintf(hello, "2025-06-18"))
	if v := c.hear()["result"].(map[string]any)["protocolVersion"]; v != "2025-06-18" {
		t.Errorf("version %v", v)
	}
	c.say(ready)
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	names := ""
	for _, tool := range c.hear()["result"].(map[string]any)["tools"].([]any) {
		names += tool.(map[string]any)["name"].(string) + " "
	}
	if names != "cancel_run execute_task follow_up get_diff get_run list_agents wait_run " {
		t.Errorf("tools: %s", names)
	}
}

// What is no message is answered, and the conversation goes on.
func TestBadLinesDoNotEndTheConversation(t *testing.T) {
	t.Parallel()
	c := converse(t, asItComes)
	defer c.end()
	c.say(fmt.Sprintf(hello, "2025-06-18"))
	c.hear()
	c.say(ready)
	for i, bad := range []struct {
		line string
		code float64
	}{
		{"garbage", -32700}, {`{"jsonrpc":"2.0","id":9,"method":"ping"`, -32700}, {`{"jsonrpc":"2.0","id":9,"method":"ping"} {}`, -32700},
		{"[]", -32600}, {"7", -32600}, {`{"jsonrpc":"1.0","id":9,"method":"ping"}`, -32600}, {`{"a":1}`, -32600}, {"\x00\xff", -32700},
		{`{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("x", maxFrame) + `"}`, -32600},
		{`{"jsonrpc":"2.0","id":9,"method":"no/such"}`, -32601},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"no_such"}}`, -32602},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}`, -32602},
	} {
		said := make(chan error, 1)
		go func() { // the answer may come before the end of a long line
			_, err := io.WriteString(c.in, bad.line+"\n")
			said <- err
		}()
		if e, _ := c.hear()["error"].(map[string]any); e["code"] != bad.code {
			t.Errorf("%.60q: %v, want %v", bad.line, e, bad.code)
		}
		if err := <-said; err != nil {
			t.Fatal(err)
		}
		c.say("") // blank lines are nothing
		c.say(fmt.Sprintf(ping, 100+i))
		if a := c.hear(); a["id"] != float64(100+i) || a["result"] == nil {
			t.Fatalf("after %.60q: %v", bad.line, a)
		}
	}
}

// A client of another version is told one that this server speaks.
func TestAnUnknownVersionIsAnsweredWithAKnownOne(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1999-01-01", "", "2099-12-31", strings.Repeat("9", 5000)} {
		c := converse(t, asItComes)
		c.say(fmt.Sprintf(hello, version))
		result, _ := c.hear()["result"].(map[string]any)
		if v, _ := result["protocolVersion"].(string); !strings.HasPrefix(v, "20") || v == version {
			t.Errorf("%.20q is answered with %v", version, result)
		}
		c.end()
	}
}

func TestCallsWithBadArgumentsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := converse(t, asItComes)
	defer c.end()
	c.say(fmt.Sprintf(hello, "2025-06-18"))
	c.hear()
	c.say(ready)
	for call, want := range map[string]string{
		`"execute_task"`: "/task",
		`"execute_task","arguments":{"task":{"objective":"x"}}`:                      "/context",
		`"execute_task","arguments":{"task":{},"Task":{}}`:                           "Task",
		`"execute_task","arguments":{"task":7}`:                                      "object",
		`"execute_task","arguments":{"approve":true}`:                                "/approve",
		`"get_run","arguments":{"run_id":"../../etc"}`:                               "no run is called",
		`"get_diff","arguments":{"run_id":"x","max_bytes":0}`:                        "/max_bytes",
		`"list_agents","arguments":{"all":true}`:                                     "/all",
		`"wait_run","arguments":{"run_id":["x"]}`:                                    "/run_id",
		`"follow_up","arguments":{"session_id":"x","prompt":"p","wait_seconds":"5"}`: "/wait_seconds",
	} {
		if strings.Contains(call, "get_run") {
			continue // needs runs; the end-to-end tests have some
		}
		c.say(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":` + call + `}}`)
		result, _ := c.hear()["result"].(map[string]any)
		text := fmt.Sprint(result["structuredContent"])
		if result["isError"] != true || !strings.Contains(text, "invalid_input") || !strings.Contains(text, want) {
			t.Errorf("%s: %s", call, text)
		}
	}
}

func FuzzLinesNeverEndTheServerOrItsMemory(f *testing.F) {
	for _, seed := range []string{"", "{}", "[{}]", "\n\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","method":"x"}]`, "nul\x00l", `{"jsonrpc":"2.0","id":{},"method":"ping"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		over := make(chan error, 1)
		go func() {
			over <- New(Options{Log: slog.New(slog.DiscardHandler)}).Serve(t.Context(), strings.NewReader(string(data)), io.Discard)
		}()
		select {
		case err := <-over:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the server outlives its client")
		}
	})
}
