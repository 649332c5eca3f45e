package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents"
)

func TestTaskSecretsAreFoundByNameAndValue(t *testing.T) {
	t.Parallel()
	const value = "ghx-0123456789abcdef"
	p := &Plan{
		Box: Boxes{Env: map[string]string{
			"NPM_TOKEN": value, "aws_secret_access_key": "wJal/XUtn1EMI/K7MDENG", "MY_PASSWORD": "abcdefgh12345678", "GITHUB_PAT": value,
			"DB_PASSWORD": "postgres", "LONG_PASSWORD": "correct-horse-battery", "API_KEY": "1234567890123456789", // words, digits
			"SSH_KEY": "/home/user/.ssh/id_ed25519", "KEY": "./keys/0123456789abcd", "TOKEN": "", "SESSION_TOKEN": "  ",
			"TOKEN_URL": "https://auth.test/0123456789", "MONKEYS": "many-monkeys-0123456789", "PATH_TO": value,
		}},
		Agent: &Agent{
			Env: map[string]string{"CUSTOM_AUTH": value},
			MCP: []PlannedServer{
				{Name: "wiki", Server: agents.Server{Name: "wiki", URL: "https://wiki.test", Headers: map[string]string{"Authorization": "Bearer " + value, "Accept": "application/json;v=0123456789"}}},
				{Name: "db", Server: agents.Server{Name: "db", Command: "db", Env: map[string]string{"DB_CREDENTIALS": value, "DB_NAME": value}}},
			},
		},
	}
	want := map[string]string{
		"NPM_TOKEN": value, "aws_secret_access_key": "wJal/XUtn1EMI/K7MDENG", "MY_PASSWORD": "abcdefgh12345678", "GITHUB_PAT": value,
		"CUSTOM_AUTH": value, "wiki.Authorization": value, "db.DB_CREDENTIALS": value,
	}
	if diff := cmp.Diff(want, p.TaskSecrets()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := (&Plan{}).TaskSecrets(); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
