package droid

import (
	"context"
	"encoding/json"
	"fmt"

	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// Bounds of what is read of a repository's settings.
const (
	maxSettings       = 512 << 10 // bytes of all files together
	maxSettingString  = 256       // bytes of one string, in quotes
	maxSettingStrings = 1024
)

// readSettingsScript prints the settings a repository has for the CLI. Only
// regular files are read: anything else might never end.
const readSettingsScript = `for f in "$@"; do if [ -f "$f" ]; then head -c 262144 "$f"; echo; fi; done`

// repositorySettingStrings lists the strings in the repository's settings. Among
// them are the commands it allows without asking.
func repositorySettingStrings(ctx context.Context, box sandbox.Sandbox) ([]string, error) {
	out := cli.NewTail(maxSettings)
	exit, err := box.Exec(ctx, sandbox.Command{
		Argv:   []string{"sh", "-c", readSettingsScript, "sh", sandbox.WorkDir + "/.factory/settings.json", sandbox.WorkDir + "/.factory/settings.local.json"},
		Stdout: out,
	})
	if err != nil {
		return nil, fmt.Errorf("read the repository's settings: %w", err)
	}
	if exit.Code != 0 {
		return nil, fmt.Errorf("read the repository's settings: exit code %d", exit.Code)
	}
	return settingStrings(out.String()), nil
}

// settingStrings lists whatever in text could be a string of JSON. The files may
// have comments, and quotes in them, so every quote is taken for the start of a
// string: one too many is asked for, none too few.
func settingStrings(text string) []string {
	var list []string
	seen := map[string]bool{}
	for i := range len(text) {
		if text[i] != '"' || len(list) >= maxSettingStrings {
			continue
		}
		for j := i + 1; j < len(text) && j-i <= maxSettingString; j++ {
			if text[j] == '\\' {
				j++
				continue
			}
			if text[j] != '"' {
				continue
			}
			var word string
			if json.Unmarshal([]byte(text[i:j+1]), &word) == nil && word != "" && !seen[word] {
				seen[word] = true
				list = append(list, word)
			}
			break
		}
	}
	return list
}
