package excerpt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/internal/redact"
)

func TestALogAndItsExcerptHoldNoSecretHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	const secretText = "not-a-real-key-0123456789"
	known := &redact.Redactor{}
	if err := known.Add("ANTHROPIC_API_KEY", secretText); err != nil {
		t.Fatal(err)
	}
	for _, pad := range []int{0, excerptHead - 10, excerptHead + excerptTail + 100} { // across the end of the head, and in the tail
		path := filepath.Join(t.TempDir(), "log")
		s, err := NewSpool(path, MaxLog, known)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []string{strings.Repeat("x", pad), secretText[:9], secretText[9:], "\n"} {
			if n, err := s.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("wrote %d: %v", n, err)
			}
		}
		if _, err := s.Write([]byte(secretText[:5])); err != nil { // held back, and not lost
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("x", pad) + "[redacted:ANTHROPIC_API_KEY]\nnot-a"
		if string(text) != want || s.total != int64(len(want)) || strings.Contains(s.Excerpt(), "key-0123") || !strings.HasSuffix(s.Excerpt(), "\nnot-a") {
			t.Errorf("pad %d: log %.50q…, %d bytes, excerpt …%q", pad, text, s.total, s.Excerpt()[max(0, len(s.Excerpt())-60):])
		}
	}
}
