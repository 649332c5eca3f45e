package body

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is one request of a real program, its long texts cut: a line of testdata/requests/<agent>.jsonl.
type recorded struct {
	Target  string              `json:"target"`
	Headers map[string][]string `json:"headers"`
	Body    json.RawMessage     `json:"body"`
}

// formOf is the form of the call with that target.
func formOf(target string) *Form {
	switch {
	case strings.Contains(target, ":countTokens"):
		return GoogleCount
	case strings.HasPrefix(target, "/v1beta/"):
		return Google
	case strings.HasPrefix(target, "/v1/responses"):
		return Responses
	case strings.HasPrefix(target, "/v1/chat/"):
		return Chat
	}
	return Anthropic
}

// TestRequestsOfRealAgentsAreAccepted reads what every agent's program sent, on every wire it speaks.
func TestRequestsOfRealAgentsAreAccepted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/requests/*.jsonl")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(content))
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			var r recorded
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatalf("%s:%d: %v", file, n, err)
			}
			if _, err := formOf(r.Target).Read(r.Body, &Policy{}); err != nil {
				t.Errorf("%s:%d: %v", file, n, err)
			}
			if err := AnthropicBetas.Read(r.Headers["Anthropic-Beta"], &Policy{}); err != nil {
				t.Errorf("%s:%d: %v", file, n, err)
			}
		}
	}
}
