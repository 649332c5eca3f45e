package agents_test

import (
	"strings"
	"testing"

	"sandboxrun/agents"
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
		data(opencodeBusy, opencodeAnswer, opencodeText("prt_1", "x"), opencodeStop, opencodeIdle),
		data(opencodeBusy, opencodeAnswer, opencodeCall("prt_1", "bash", `{"status":"running","input":{"command":"ls"}}`), opencodeAsk("per_1", "bash", "prt_1"), opencodeIdle),
		data(opencodeFail("ProviderAuthError", `{"providerID":"anthropic","message":"no"}`), opencodeIdle),
		"data: {\n\n", "data:\r\n\r\n:comment\nid: 1\nretry: 1\nevent: x\ndata: {}\n\n", "\x00\xff", "data: {}\ndata: {}\n\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		h := &recorder{}
		o, err := playOpencode(t, agents.Turn{Prompt: "go", Model: "m-1"}, h, &opencodePlay{script: func(s *opencodePlay) bool {
			s.raw(stream)
			return false
		}})
		if err != nil {
			t.Fatalf("run: %v (%+v)", err, o)
		}
		h.holds(t, o, stream, "idle")
	})
}
