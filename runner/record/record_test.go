package record

import (
	"testing"
	"time"

	"sandboxrun/internal/redact"
	"sandboxrun/runner/document"
)

const testSecret = "not-a-real-key-0123456789"

func TestAResultIsTheSameButForItsSecrets(t *testing.T) {
	t.Parallel()
	secrets := &redact.Redactor{}
	if err := secrets.Add("ANTHROPIC_API_KEY", testSecret); err != nil {
		t.Fatal(err)
	}
	three := 3
	res := &document.Result{RunID: "r", Status: document.StatusPartial, StartedAt: time.Now().UTC(), Timing: map[string]int64{"total": 5}, Logs: []string{},
		CommandsRun: []document.CommandRun{{Command: "echo " + testSecret, ExitCode: &three}}, Agent: &document.AgentResult{Claim: "it is " + testSecret},
		FilesChanged: []document.FileChange{{Path: "dir/" + testSecret, Highlights: []string{}}}}
	got := (&Record{Secrets: secrets}).Redacted(res)
	if got.CommandsRun[0].Command != "echo [redacted:ANTHROPIC_API_KEY]" || got.Agent.Claim != "it is [redacted:ANTHROPIC_API_KEY]" ||
		got.FilesChanged[0].Path != "dir/[redacted:ANTHROPIC_API_KEY]" || *got.CommandsRun[0].ExitCode != 3 || !got.StartedAt.Equal(res.StartedAt) {
		t.Errorf("result %+v", got)
	}
	if same := (&Record{Secrets: secrets}).Redacted(got); same != got {
		t.Error("a result without secrets was made anew")
	}
}
