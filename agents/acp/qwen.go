package acp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(qwen()) }

// qwen drives Qwen Code over ACP; agent has the states of a turn. It works by
// the protocol. It asks the client for prompts that were queued meanwhile, which
// there never are, and tells the tokens of each answer with its last chunk. A
// denied call ends the model's turn, so it is prompted again with the reason
// (peer.goOn).
//
// The settings of a repository are not read: its folder is not trusted. In such
// a folder the CLI starts no MCP server either, which the turn says.
func qwen() agent {
	return agent{
		info: qwenInfo, command: qwenCommand,
		prepare: func(ctx context.Context, box sandbox.Sandbox, _ agents.Turn) error {
			files := qwenFiles()
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if err := cli.WriteHome(ctx, box, name, files[name]); err != nil {
					return err
				}
			}
			return nil
		},
		quirks: func(t agents.Turn) quirks {
			return quirks{
				model: qwenModelOf(t), questions: qwenQuestions,
				unserved: "the MCP servers of the task are not started: this CLI starts servers only in a folder it trusts, and then obeys the settings of the repository too",
				stays:    true, // its leave-taking asks its maker for things and takes a long time without an answer
				noise:    []string{"craft/drainMidTurnQueue", "qwen/notify/session/prompt-suggestion"},
			}
		},
	}
}

func qwenInfo() agents.Info {
	return agents.Info{
		Name:     "qwen",
		Executor: "QWEN_CODE",
		Title:    "Qwen Code",
		Package:  "@qwen-code/qwen-code",
		Version:  "0.24.4",
		Binary:   "qwen",
		// The package's program starts a second process and keeps signals from it;
		// that second program is installed instead. Programs for other machines go.
		Install: agents.Install{Script: `cd "$PREFIX/lib/node_modules/@qwen-code/qwen-code"
chmod 0755 cli.js
find vendor/ripgrep -mindepth 1 -maxdepth 1 -type d ! -name "$(node -p process.arch)-linux" -exec rm -rf {} +
rm -rf web-shell node_modules/@img/sharp-wasm32
mkdir -p "$OUT$(dirname "$PREFIX")" "$OUT/usr/local/bin"
ln -s "$PWD/cli.js" "$OUT/usr/local/bin/qwen"
cd /
mv "$PREFIX" "$OUT$PREFIX"`},
		Providers: []string{"openai"},
		Models:    []string{qwenModel},
		Wires:     []wire.Wire{wire.OpenAIChat},
		Secrets:   []string{"OPENAI_API_KEY"},
		MCPPath:   ".qwen/settings.json",
		MCPKey:    "mcpServers",
		Setup:     "put the key of a provider of OpenAI's chat API into OPENAI_API_KEY",
		Protocol:  acpProtocol,
		Limits: []string{
			"starts MCP servers only in a folder it trusts, and a trusted folder would make it obey the repository. It gets no servers, and the run reports that.",
		},
		EnvPrefixes: []string{"QWEN_", "OPENAI_"},
		Obeys:       []string{"QWEN.md", ".qwen/"},
		Logins:      []string{".qwen/oauth_creds.json"},
		Traces:      []string{".qwen"},
		Keep:        []string{".qwen/projects"},
		Options: []agents.Option{{
			Name: "approval_mode", Type: agents.OptionString, Values: []string{"default", "auto-edit", "yolo", "plan"},
			Help: "what the CLI asks for: everything, all but edits, nothing, or nothing because it only plans",
		}},
	}
}

// qwenModel is the model of a turn that names none.
const qwenModel = "qwen3-coder-plus"

func qwenModelOf(t agents.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return qwenModel
}

func qwenCommand(t agents.Turn) (argv, env []string) {
	mode := t.Settings.String("approval_mode")
	switch {
	case t.ReadOnly:
		mode = "plan"
	case mode == "":
		mode = "default" // its own default lets a model decide
	}
	argv = append([]string{qwenInfo().Binary}, t.Args...)
	return append(argv, "--acp", "--auth-type", "openai", "--approval-mode", mode), cli.Environment(t, nil, map[string]string{
		"OPENAI_BASE_URL":                t.BaseURL + "/v1",
		"OPENAI_API_KEY":                 t.Token,
		"OPENAI_MODEL":                   qwenModelOf(t),
		"QWEN_CODE_NO_RELAUNCH":          "true",
		"QWEN_CODE_SYSTEM_SETTINGS_PATH": sandbox.Home + "/" + qwenSystem,
		"QWEN_CODE_TRUSTED_FOLDERS_PATH": sandbox.Home + "/" + qwenTrust,
	}, "QWEN_HOME", "QWEN_CODE_SYSTEM_DEFAULTS_PATH", "QWEN_MODEL")
}

const (
	qwenSystem = ".qwen/system-settings.json" // the file of settings that no other is over
	qwenTrust  = ".qwen/trustedFolders.json"
)

// qwenFiles are the files of a turn below HOME. They silence the CLI, keep its
// own requests to the model away, bound its retries and trust no repository.
func qwenFiles() map[string][]byte {
	settings, err := json.Marshal(map[string]any{
		"general":         map[string]any{"enableAutoUpdate": false, "showSessionRecap": false},
		"privacy":         map[string]any{"usageStatisticsEnabled": false},
		"telemetry":       map[string]any{"enabled": false},
		"ui":              map[string]any{"enableFollowupSuggestions": false},
		"memory":          map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
		"disableAllHooks": true,
		"security":        map[string]any{"folderTrust": map[string]any{"enabled": true}},
		"model": map[string]any{"generationConfig": map[string]any{
			"maxRetries": 0, "retryInitialDelayMs": 1000, "retryMaxDelayMs": 10000, // in addition to seven attempts of its own
		}},
	})
	if err != nil {
		return nil // constants always marshal
	}
	return map[string][]byte{
		qwenSystem:            settings,
		".qwen/settings.json": settings,
		qwenTrust:             []byte(`{"` + sandbox.WorkDir + `":"DO_NOT_TRUST"}`),
	}
}

// qwenQuestions reads the questions of the tool by which the model asks the user.
func qwenQuestions(u *sessionUpdate) []agents.Question {
	if u.Meta.Tool != "ask_user_question" {
		return nil
	}
	var in struct {
		Questions []struct {
			Question string                  `json:"question"`
			Multiple bool                    `json:"multiSelect"`
			Options  []agents.QuestionOption `json:"options"`
		} `json:"questions"`
	}
	if cli.Decode(cli.Object(u.Input), &in) != nil || len(in.Questions) == 0 || len(in.Questions) > cli.MaxQuestions {
		// Something is asked that cannot be shown piece by piece.
		return []agents.Question{{ID: "0", Text: cli.Head(string(u.input()), cli.MaxWords)}}
	}
	var list []agents.Question
	for i, q := range in.Questions {
		list = append(list, agents.Question{ID: strconv.Itoa(i), Text: q.Question, Options: q.Options, Multiple: q.Multiple})
	}
	return list
}
