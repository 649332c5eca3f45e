package acp_test

import (
	"bytes"
	"strings"
	"testing"

	"sandboxrun/agents/acp"
	"sandboxrun/agents/agentstest"
	"sandboxrun/sandbox"
)

// The CLI says so where it does not read the settings of the system.
func TestGeminiReadsTheSettingsOfTheImage(t *testing.T) {
	j := agentstest.NewJob(t, "gemini", nil)
	box := agentstest.OpenBox(t, j.Workspace, j.Home)
	argv, env := acp.GeminiCommand(j.Turn)
	var said bytes.Buffer
	exit, err := box.Exec(t.Context(), sandbox.Command{
		Argv: append([]string{"timeout", "60"}, argv...), Env: env, Stdout: &said, Stderr: &said,
		Stdin: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n"),
	})
	if err != nil || exit.Code != 0 || !strings.Contains(said.String(), `"protocolVersion":1`) || strings.Contains(said.String(), "Skipping") {
		t.Errorf("exit code %d, %v: %.2000s", exit.Code, err, &said)
	}
	said.Reset()
	exit, err = box.Exec(t.Context(), sandbox.Command{
		Argv: []string{"sh", "-c", `touch "$0" || stat -c '%U %a' "$0"`, acp.GeminiSystem}, Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said,
	})
	if err != nil || exit.Code != 0 || !strings.Contains(said.String(), "root 644") {
		t.Errorf("the box's user may write the settings of the system: exit code %d, %v: %s", exit.Code, err, &said)
	}
}
