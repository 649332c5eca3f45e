// Package all registers every agent: a program, or a test, that looks agents up
// imports it for that alone. It is the one list of adapters.
package all

import (
	_ "sandboxrun/agents/acp" // copilot, gemini, qwen, and names of the form acp:
	_ "sandboxrun/agents/claude"
	_ "sandboxrun/agents/codex"
	_ "sandboxrun/agents/droid"
	_ "sandboxrun/agents/opencode" // opencode and kilo
	_ "sandboxrun/agents/pi"
)
