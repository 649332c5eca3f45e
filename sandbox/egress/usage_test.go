package egress

import (
	"strings"
	"testing"
	"testing/iotest"

	"io"
)

func TestUsageIsReadFromAnyChunking(t *testing.T) {
	t.Parallel()
	sse := "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":2}}}\r\n\r\n" +
		"data: {\"x\":\"" + strings.Repeat("y", maxEvent) + "\",\"usage\":{\"output_tokens\":999}}\n\n" + // too long: not counted
		"data: not json \"usage\"\n\n" +
		"data: {\"usage\":{\"output_tokens\":-5}}\n\n" +
		"data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":4}}"
	for _, c := range []struct {
		kind, text string
		want       Usage
	}{
		{"text/event-stream; charset=utf-8", sse, Usage{Model: "m", InputTokens: 9, CacheReadTokens: 2, OutputTokens: 4}},
		{"application/json", `{"model":"n","usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3}}`, Usage{Model: "n", InputTokens: 1, OutputTokens: 2, CacheWriteTokens: 3}},
		{"application/json", `{"input_tokens":14}`, Usage{}},
		{"application/json", `{"model":"n","usage":{"input_tokens":1}}` + strings.Repeat(" ", maxDocument), Usage{}},
		{"application/json", `[`, Usage{}},
		{"", "", Usage{}},
	} {
		for _, chunks := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			tap := newUsageTap(anthropicUsage, c.kind)
			buf := make([]byte, 4096)
			for {
				n, err := chunks.Read(buf)
				tap.write(buf[:n])
				if err != nil {
					break
				}
			}
			if got := tap.end(); got != c.want {
				t.Errorf("%s: %+v, want %+v", c.kind, got, c.want)
			}
			if cap(tap.buf) > 2*maxDocument {
				t.Errorf("kept %d bytes", cap(tap.buf))
			}
		}
	}
}
