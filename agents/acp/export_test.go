package acp

import (
	"context"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// GeminiSystem is where the image has the settings of Gemini CLI.
const GeminiSystem = geminiSystem

// GeminiCommand is the command line and the environment of Gemini CLI in a turn.
func GeminiCommand(t agents.Turn) (argv, env []string) { return geminiCommand(t) }

// ReadKimiJournal reads the journal of a session from its beginning, and says of
// the last turn in it what the tokens of all were and with which code it failed.
func ReadKimiJournal(ctx context.Context, box sandbox.Sandbox, session string) (u agents.Usage, code string, err error) {
	u, fault, err := (&kimiJournal{box: box}).prompted(ctx, session)
	if fault != nil {
		code = fault.issue
	}
	return u, code, err
}
