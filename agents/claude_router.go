package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"sandboxrun/sandbox"
)

// The router is claude-code-router: a server in the box that takes Anthropic
// Messages from Claude Code and asks an OpenAI Chat Completions API. Its
// settings were read from the README of the pinned package.
const (
	claudeRouterPackage = "@musistudio/claude-code-router@2.0.0"
	claudeRouterConfig  = ".claude-code-router/config.json"
	claudeRouterPort    = 3456
	// claudeRouterModel is asked for where nobody named a model: the router
	// needs one.
	claudeRouterModel = "gpt-5.1"
	// claudeRouterName is the router's name of the only provider it knows.
	claudeRouterName = "broker"
)

// claudeRouterScript starts the router, waits until it answers, for 15 s at
// most, and then runs the CLI. Nothing of the router outlives it.
const claudeRouterScript = `ccr start >/dev/null 2>&1 </dev/null &
router=$!
tries=0
until curl -s -o /dev/null "http://127.0.0.1:$ROUTER_PORT/"; do
	tries=$((tries + 1))
	if [ "$tries" -ge 150 ] || ! kill -0 "$router"; then
		echo "the router does not start" >&2
		exit 69
	fi
	sleep 0.1
done
"$@"
code=$?
kill -KILL "$router"
exit "$code"`

// claudeRouted says that the CLI is to go through the router: it was asked for,
// or the provider does not speak the CLI's own wire.
func claudeRouted(t Turn) bool { return t.Wire == WireOpenAIChat }

// claudeRoutedModel is the model the router asks for.
func claudeRoutedModel(t Turn) string { return cmp.Or(t.Model, claudeRouterModel) }

// claudeRoute writes the router's configuration into the box.
func claudeRoute(ctx context.Context, box sandbox.Sandbox, t Turn) error {
	model := claudeRoutedModel(t)
	b, err := json.Marshal(map[string]any{
		"HOST": "127.0.0.1", "PORT": claudeRouterPort, "LOG": false, "APIKEY": t.Token,
		"API_TIMEOUT_MS": strconv.FormatInt((t.idle() + claudeLate).Milliseconds(), 10),
		"Providers": []any{map[string]any{
			"name": claudeRouterName, "api_base_url": t.BaseURL + "/v1/chat/completions", "api_key": t.Token, "models": []string{model},
		}},
		"Router": map[string]string{"default": claudeRouterName + "," + model},
	})
	if err != nil {
		return fmt.Errorf("configure router: %w", err)
	}
	return writeHome(ctx, box, claudeRouterConfig, b)
}

// claudeThroughRouter is a command line and an environment behind the router.
// The router chooses the model, so the CLI is not told one it would not know.
func claudeThroughRouter(info Info, t Turn) (argv, env []string) {
	t.Model = ""
	t.BaseURL = "http://127.0.0.1:" + strconv.Itoa(claudeRouterPort)
	argv = append([]string{"sh", "-c", claudeRouterScript, "sh"}, claudeArgv(info, t)...)
	return argv, append(claudeEnv(t), "ROUTER_PORT="+strconv.Itoa(claudeRouterPort))
}
