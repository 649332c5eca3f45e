package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// What the CLI has below HOME. The directory of a project is named after its
// folder, which is the same in every box.
const (
	geminiSettings = ".gemini/settings.json"
	geminiProjects = ".gemini/projects.json"
	geminiProject  = ".gemini/tmp/workspace"
	geminiChats    = geminiProject + "/chats"
)

// geminiSystem is the file of settings that no other file is over. The image has
// it; in another image, which lacks it, those of HOME are all there is.
const geminiSystem = "/etc/gemini-cli/settings.json"

// geminiAttempts bounds how often the CLI asks a provider that fails; its own
// bound of 10 takes minutes, and nothing is heard of it meanwhile.
const geminiAttempts = 3

// geminiConfig silences the CLI and bounds its patience.
func geminiConfig() []byte {
	b, err := json.Marshal(map[string]any{
		"general": map[string]any{
			"maxAttempts": geminiAttempts, "enableAutoUpdate": false, "enableAutoUpdateNotification": false,
			"sessionRetention": map[string]any{"enabled": false},
		},
		"privacy":     map[string]any{"usageStatisticsEnabled": false},
		"telemetry":   map[string]any{"enabled": false},
		"hooksConfig": map[string]any{"enabled": false},
	})
	if err != nil {
		return nil // constants always marshal
	}
	return b
}

// geminiPrepare writes the settings and readies the session that is taken up.
func geminiPrepare(ctx context.Context, box sandbox.Sandbox, t agents.Turn) error {
	if err := cli.WriteHome(ctx, box, geminiSettings, geminiConfig()); err != nil {
		return err
	}
	if t.Resume {
		return geminiRecall(ctx, box, t.SessionID)
	}
	return nil
}

var geminiSession = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f-]{4,55}$`)

// geminiRecallScript leaves one file of a session: the largest, under a name of
// the day before. The CLI names the file after minute and session and empties
// one of the same minute when it loads it; and it leaves an empty second file
// behind, for which it deletes both at its next start.
const geminiRecallScript = `
cd "$1" || exit 3
keep=$(ls -S -- session-*-"$2".jsonl 2>/dev/null | head -n 1)
[ -n "$keep" ] || exit 3
mv -- "$keep" keep.tmp || exit 4
rm -f -- session-*-"$2".jsonl
day=$(date -u -d "@$(($(date +%s) - 86400))" +%Y-%m-%dT%H-%M) || exit 4
mv -- keep.tmp "session-$day-$2.jsonl"
`

var errGeminiSession = errors.New("there is no such session to take up")

func geminiRecall(ctx context.Context, box sandbox.Sandbox, id string) error {
	if !geminiSession.MatchString(id) {
		return fmt.Errorf("session %q: %w", cli.Head(id, maxID), errGeminiSession)
	}
	errs := cli.NewTail(cli.StderrKept)
	exit, err := box.Exec(ctx, sandbox.Command{
		Argv:  []string{"sh", "-c", geminiRecallScript, "sh", path.Join(sandbox.Home, geminiChats), id[:8]},
		Stdin: strings.NewReader(""), Stdout: errs, Stderr: errs,
	})
	switch {
	case err != nil:
		return fmt.Errorf("ready the session in the box: %w", err)
	case exit.Code == 3:
		return fmt.Errorf("session %s: %w", id, errGeminiSession)
	case exit.Code != 0:
		return fmt.Errorf("ready the session in the box: exit code %d: %s", exit.Code, errs.String())
	}
	return nil
}
