package acp_test

import (
	"slices"
	"testing"

	"sandboxrun/agents"
)

func TestKeptAddsWhatTheProfileKeeps(t *testing.T) {
	t.Parallel()
	settings := agents.Settings{"keep": []byte(`[".tool/chats","/etc","..","../x",".","a/../../b","", "x/../y"]`)}
	tool, ok := agents.Lookup("acp:tool")
	if !ok {
		t.Fatal("there is no acp:tool")
	}
	if got, want := agents.Kept(tool.Info(), settings), []string{".tool/chats", "y"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	gemini, ok := agents.Lookup("gemini")
	if !ok {
		t.Fatal("gemini is not registered")
	}
	if got := agents.Kept(gemini.Info(), settings); !slices.Equal(got, gemini.Info().Keep) {
		t.Errorf("an agent without that field keeps %q", got)
	}
}
