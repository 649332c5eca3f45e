package egress

import (
	"bytes"
	"testing"

	"sandboxrun/internal/wire"
)

// FuzzUsage taps any bytes as a provider's answer: no count is below zero, and pieces of any size count the same.
func FuzzUsage(f *testing.F) {
	for _, s := range []string{
		`data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"output_tokens":1}}}` + "\n\n" + `data: {"type":"message_delta","usage":{"output_tokens":9}}` + "\n\n",
		`data: {"type":"response.completed","response":{"model":"m","usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":9},"output_tokens":-1}}}` + "\n",
		`{"usage":{"prompt_tokens":1e9,"completion_tokens":99999999999999999999}}`, `{"usageMetadata":{"promptTokenCount":4,"cachedContentTokenCount":1,"candidatesTokenCount":2}}`,
		"data:data:\r\ndata: {\"usage\":null}\n", `{"usage":[]}`, "\xff\x00",
	} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, body []byte, step uint8) {
		for _, w := range wire.All() {
			for _, kind := range []string{"text/event-stream", "application/json"} {
				whole, pieces := newUsageTap(dialects[w].usage, kind), newUsageTap(dialects[w].usage, kind)
				whole.write(bytes.Clone(body))
				for p := body; len(p) > 0; {
					n := min(max(int(step), 1), len(p))
					pieces.write(p[:n])
					p = p[n:]
				}
				u := whole.end()
				if again := pieces.end(); again != u {
					t.Errorf("%s, %s: %+v, in pieces %+v", w, kind, u, again)
				}
				if u.InputTokens < 0 || u.OutputTokens < 0 || u.CacheReadTokens < 0 || u.CacheWriteTokens < 0 {
					t.Errorf("%s, %s: %+v", w, kind, u)
				}
			}
		}
	})
}
