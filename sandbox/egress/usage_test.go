package egress

import (
	"strings"
	"testing"
	"testing/iotest"

	"sandboxrun/internal/wire"

	"io"
)

// In the format of the vendors' answers.
const (
	responsesSSE = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"model\":\"r\",\"usage\":null}}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"\\\"usage\\\"\"}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"model\":\"r\",\"status\":\"completed\",\"usage\":" +
		"{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":40},\"output_tokens\":7,\"output_tokens_details\":{\"reasoning_tokens\":5},\"total_tokens\":107}}}\n\n"

	chatSSE = "data: {\"model\":\"c\",\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}\n\n" +
		"data: {\"model\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":2,\"total_tokens\":13,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n" +
		"data: [DONE]\n\n"

	googleSSE = "data: {\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":12,\"totalTokenCount\":12},\"modelVersion\":\"g\"}\r\n\r\n" +
		"data: {\"usageMetadata\":{\"promptTokenCount\":12,\"cachedContentTokenCount\":4,\"candidatesTokenCount\":3,\"thoughtsTokenCount\":6,\"totalTokenCount\":21},\"modelVersion\":\"g\"}\r\n\r\n"

	googleArray = `[{"modelVersion":"g","usageMetadata":{"promptTokenCount":8}},
{"usageMetadata":{"promptTokenCount":8,"toolUsePromptTokenCount":2,"candidatesTokenCount":3}}]`
)

func TestUsageIsReadFromAnyChunking(t *testing.T) {
	t.Parallel()
	sse := "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":2}}}\r\n\r\n" +
		"data: {\"x\":\"" + strings.Repeat("y", maxEvent) + "\",\"usage\":{\"output_tokens\":999}}\n\n" + // too long: not counted
		"data: not json \"usage\"\n\n" +
		"data: {\"usage\":{\"output_tokens\":-5}}\n\n" +
		"data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":4}}"
	for _, c := range []struct {
		wire       wire.Wire
		kind, text string
		want       Usage
	}{
		{wire.AnthropicMessages, "text/event-stream; charset=utf-8", sse, Usage{Model: "m", InputTokens: 9, CacheReadTokens: 2, OutputTokens: 4}},
		{wire.AnthropicMessages, "application/json", `{"model":"n","usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3}}`,
			Usage{Model: "n", InputTokens: 1, OutputTokens: 2, CacheWriteTokens: 3}},
		{wire.AnthropicMessages, "application/json", `{"input_tokens":14}`, Usage{}},
		{wire.AnthropicMessages, "application/json", `{"model":"n","usage":{"input_tokens":1}}` + strings.Repeat(" ", maxDocument), Usage{}},
		{wire.AnthropicMessages, "application/json", `[`, Usage{}},
		{wire.AnthropicMessages, "", "", Usage{}},
		{wire.OpenAIResponses, "text/event-stream", responsesSSE, Usage{Model: "r", InputTokens: 60, CacheReadTokens: 40, OutputTokens: 7}},
		{wire.OpenAIResponses, "application/json", `{"model":"r","usage":{"input_tokens":5,"output_tokens":6}}`, Usage{Model: "r", InputTokens: 5, OutputTokens: 6}},
		{wire.OpenAIResponses, "application/json", `{"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":9},"output_tokens":-1}}`, Usage{}},
		{wire.OpenAIChat, "text/event-stream", chatSSE, Usage{Model: "c", InputTokens: 3, CacheReadTokens: 8, OutputTokens: 2}},
		{wire.OpenAIChat, "application/json", `{"model":"c","usage":{"prompt_tokens":11,"completion_tokens":2,"prompt_tokens_details":null}}`,
			Usage{Model: "c", InputTokens: 11, OutputTokens: 2}},
		{wire.GoogleGenerate, "text/event-stream", googleSSE, Usage{Model: "g", InputTokens: 8, CacheReadTokens: 4, OutputTokens: 9}},
		{wire.GoogleGenerate, "application/json", googleArray, Usage{Model: "g", InputTokens: 10, OutputTokens: 3}},
		{wire.GoogleGenerate, "application/json", `{"totalTokens":31}`, Usage{}},
		{wire.GoogleGenerate, "application/json", `{"usageMetadata":{"promptTokenCount":-7,"candidatesTokenCount":-7}}`, Usage{}},
	} {
		for _, chunks := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			tap := newUsageTap(dialects[c.wire].usage, c.kind)
			buf := make([]byte, 4096)
			for {
				n, err := chunks.Read(buf)
				tap.write(buf[:n])
				if err != nil {
					break
				}
			}
			if got := tap.end(); got != c.want {
				t.Errorf("%s, %s: %+v, want %+v", c.wire, c.kind, got, c.want)
			}
			if cap(tap.buf) > 2*maxDocument {
				t.Errorf("kept %d bytes", cap(tap.buf))
			}
		}
	}
}
