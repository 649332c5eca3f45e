package opencode_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// FuzzOpencodeStream gives a turn whatever a server could send as its stream of
// events, which then ends. The turn ends, cleanly only if the server said so.
func FuzzOpencodeStream(f *testing.F) {
	data := func(events ...string) string {
		var b strings.Builder
		for _, e := range events {
			kind, properties, _ := strings.Cut(e, " ")
			b.WriteString(`data: {"type":"` + kind + `","properties":` + properties + "}\n\n")
		}
		return b.String()
	}
	for _, s := range []string{
		data(busyEvent, answerEvent, textEvent("prt_1", "x"), stopEvent, idleEvent),
		data(busyEvent, answerEvent, callEvent("prt_1", "bash", `{"status":"running","input":{"command":"ls"}}`), askEvent("per_1", "bash", "prt_1"), idleEvent),
		data(failEvent("ProviderAuthError", `{"providerID":"anthropic","message":"no"}`), idleEvent),
		"data: {\n\n", "data:\r\n\r\n:comment\nid: 1\nretry: 1\nevent: x\ndata: {}\n\n", "\x00\xff", "data: {}\ndata: {}\n\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		h := &agentstest.Recorder{}
		o, err := playTurn(t, agents.Turn{Prompt: "go", Model: "m-1"}, h, &playedServer{script: func(s *playedServer) bool {
			s.raw(stream)
			return false
		}})
		if err != nil {
			t.Fatalf("run: %v (%+v)", err, o)
		}
		h.Check(t, o, stream, "idle")
	})
}
