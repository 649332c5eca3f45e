package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

// The router is claude-code-router: a server in the box that takes Anthropic
// Messages from Claude Code and asks an OpenAI Chat Completions API. Its
// settings were read from the README of the pinned package.
const (
	routerPackage = "@musistudio/claude-code-router@2.0.0"
	routerConfig  = ".claude-code-router/config.json"
	routerPort    = 3456
	// routerModel is asked for where no model is named: the router
	// needs one.
	routerModel = "gpt-5.1"
	// routerName is the router's name of the only provider it knows.
	routerName = "broker"
)

// routerScript starts the router, waits until it answers, for 15 s at
// most, and then runs the CLI. Nothing of the router outlives it.
const routerScript = `ccr start >/dev/null 2>&1 </dev/null &
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

// routed says that the CLI is to go through the router: it was asked for,
// or the provider does not speak the CLI's own wire.
func routed(t agents.Turn) bool { return t.Wire == wire.OpenAIChat }

// routedModel is the model the router asks for.
func routedModel(t agents.Turn) string { return cmp.Or(t.Model, routerModel) }

// writeRouterConfig writes the router's configuration into the box.
func writeRouterConfig(ctx context.Context, box sandbox.Sandbox, t agents.Turn) error {
	model := routedModel(t)
	b, err := json.Marshal(map[string]any{
		"HOST": "127.0.0.1", "PORT": routerPort, "LOG": false, "APIKEY": t.Token,
		"API_TIMEOUT_MS": strconv.FormatInt((t.IdleLimit() + requestMargin).Milliseconds(), 10),
		"Providers": []any{map[string]any{
			"name": routerName, "api_base_url": t.BaseURL + "/v1/chat/completions", "api_key": t.Token, "models": []string{model},
		}},
		"Router": map[string]string{"default": routerName + "," + model},
	})
	if err != nil {
		return fmt.Errorf("configure router: %w", err)
	}
	return cli.WriteHome(ctx, box, routerConfig, b)
}

// throughRouter is a command line and an environment behind the router.
// The router chooses the model, so the CLI is not told one it would not know.
func throughRouter(info agents.Info, t agents.Turn) (argv, env []string) {
	t.Model = ""
	t.BaseURL = "http://127.0.0.1:" + strconv.Itoa(routerPort)
	argv = append([]string{"sh", "-c", routerScript, "sh"}, commandLine(info, t)...)
	return argv, append(environment(t), "ROUTER_PORT="+strconv.Itoa(routerPort))
}
