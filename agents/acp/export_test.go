package acp

import "sandboxrun/agents"

// GeminiSystem is where the image has the settings of Gemini CLI.
const GeminiSystem = geminiSystem

// GeminiCommand is the command line and the environment of Gemini CLI in a turn.
func GeminiCommand(t agents.Turn) (argv, env []string) { return geminiCommand(t) }
