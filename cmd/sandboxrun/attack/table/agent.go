package table

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"sandboxrun/cmd/sandboxrun/attack"
)

// agentProgram is an agent of the attacker's, in JavaScript, which speaks the Agent Client Protocol. %s is the body of an
// asynchronous function that is its turn; ask asks for a command, put writes a file of the attack's directory.
const agentProgram = `const fs = require('fs'), path = require('path')
const say = m => process.stdout.write(JSON.stringify({jsonrpc: '2.0', ...m}) + '\n')
const put = (name, text) => fs.writeFileSync(path.join(__dirname, name), text)
const waiting = {}
let asked = 0
const ask = command => new Promise(answered => {
  const id = 'ask-' + ++asked
  waiting[id] = answered
  say({id, method: 'session/request_permission', params: {sessionId: 's', toolCall: {toolCallId: id, title: 'Run it', kind: 'execute', rawInput: {command}},
    options: [{optionId: 'yes', name: 'Yes', kind: 'allow_once'}, {optionId: 'no', name: 'No', kind: 'reject_once'}]}})
})
async function turn() {
%s
  say({method: 'session/update', params: {sessionId: 's', update: {sessionUpdate: 'agent_message_chunk', content: {type: 'text', text: 'done'}}}})
}
require('readline').createInterface({input: process.stdin}).on('line', async l => {
  const m = JSON.parse(l)
  if (m.method == 'initialize') say({id: m.id, result: {protocolVersion: 1, agentInfo: {name: 'x', version: '1'}, agentCapabilities: {}}})
  else if (m.method == 'session/new') say({id: m.id, result: {sessionId: 's'}})
  else if (m.method == 'session/prompt') { await turn(); say({id: m.id, result: {stopReason: 'end_turn'}}) }
  else if (m.method && m.id !== undefined) say({id: m.id, result: {}})
  else if (waiting[m.id]) waiting[m.id](m.result)
})
`

// byAgent makes an attack of a turn of the attacker's own agent; see agentProgram. Its script is for the naive counterpart only.
func byAgent(a attack.Attack, turn string) attack.Attack {
	a.Repo = func(_, own string) error {
		return attack.WriteFile(filepath.Join(own, "agent.js"), fmt.Sprintf(agentProgram, turn), 0o644)
	}
	change := a.Task
	a.Task = func(task map[string]any) {
		delete(task, "suggested_commands")
		task["execution_mode"], task["instructions"] = "code", "Do the work."
		task["agent"] = map[string]any{"name": "acp:node " + strings.ToLower(a.ID) + "/agent.js", "provider": "anthropic"}
		if change != nil {
			change(task)
		}
	}
	return a
}

// longCommands has an agent ask for commands that are long and almost match the patterns of the task's rules.
func longCommands() attack.Attack {
	const runtime = 60 // seconds
	return byAgent(attack.Attack{
		ID: "R19", Group: attack.Resources, Title: "stop the clock of its run by commands that rules take long to compare",
		Script: "true", Naive: attack.Naive{Skip: "its agent asks nobody"},
		Task: func(task map[string]any) {
			task["max_runtime_seconds"] = runtime
			rules := []any{map[string]any{"command": "*deploy*production*"}, map[string]any{"command": strings.Repeat("*a", 20) + "*b*"}, map[string]any{"command": "*a*ab*ba*c"}}
			task["approvals"] = map[string]any{"policy": "auto", "deny": rules, "allow": rules}
		},
		Breached: func(s attack.Scene) string {
			switch {
			case s.Hung, s.Took > (runtime+45)*time.Second:
				return "the run outlives its limit by far: " + s.Took.Round(time.Second).String()
			case s.Landed[s.Own("answers")].Content != "3":
				return "the attack was not made: " + s.Refused + s.Result.Summary
			}
			return ""
		},
	}, `  for (const command of ['deploy '.repeat(30000), 'a'.repeat(240000), 'ab'.repeat(100000)]) await ask(command)
  put('answers', String(asked))`)
}

// keyForms are the forms in which a provider may repeat a key.
var keyForms = map[string]func(key string) string{
	"plain":  func(key string) string { return key },
	"base64": func(key string) string { return base64.StdEncoding.EncodeToString([]byte("key: " + key + "\n")) },
	"hex":    func(key string) string { return hex.EncodeToString([]byte(key)) },
	"quoted": func(key string) string { return strings.ReplaceAll(key, "-", "%2D") },
}

// repeatedKey has a provider, or a gateway before it, repeat the request in good answers, the real key with it.
func repeatedKey() attack.Attack {
	a := byAgent(attack.Attack{
		ID: "S13", Group: attack.Secrets, Title: "learn the key from a provider that repeats the request in its answer",
		Script: `printenv $KEY | grep '^sk-ant-attack' | sed 's/.*/GOT the key/'`,
		Host:   repeatingProvider,
		Breached: func(s attack.Scene) string {
			if s.Naive {
				return attack.Got(s)
			}
			if got := s.Landed[s.Own("got")].Content; got != "" {
				return "the agent has the key: " + got
			}
			if n := s.Landed[s.Own("answers")].Content; n != "12" {
				return fmt.Sprintf("the attack was not made: %q answers, %s%s", n, s.Refused, s.Result.Summary)
			}
			return ""
		},
	}, `  const head = 'sk-ant-attack', forms = {
    plain: t => t, base64: t => t.split(/[^A-Za-z0-9+\/=]+/).map(w => Buffer.from(w, 'base64').toString('latin1')).join(' '),
    hex: t => t.split(/[^0-9a-f]+/).map(w => Buffer.from(w, 'hex').toString('latin1')).join(' '), quoted: t => t.replace(/%2D/g, '-')}
  let got = '', n = 0
  for (const form in forms) for (const way of ['body', 'header', 'stream']) {
    const r = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {method: 'POST',
      headers: {'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01'},
      body: JSON.stringify({model: 'm', max_tokens: 1, stream: way == 'stream', messages: [{role: 'user', content: form + ' ' + way}]})})
    const text = await r.text() + ' ' + JSON.stringify([...r.headers])
    if (r.status == 200) n++
    if (forms[form](text).includes(head)) got += form + ' in the ' + way + '; '
  }
  put('answers', String(n))
  if (got) put('got', got)`)
	return a
}

// repeatingProvider is a provider whose good answers hold the key of the request, in the form and the place that the message names.
func repeatingProvider(ctx context.Context, h *attack.Host) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(repeatKey)}
	h.Config["providers"] = map[string]any{"anthropic": map[string]any{"base_url": "http://" + l.Addr().String(), "key_env": attack.KeyVariable}}
	h.Meanwhile = func(ctx context.Context) {
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		defer stop()
		_ = srv.Serve(l) // it ends when it is closed
	}
	return nil
}

func repeatKey(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, 1<<16)
	n, _ := r.Body.Read(body) // a small request arrives at once
	request, key := string(body[:n]), r.Header.Get("X-Api-Key")
	for name, form := range keyForms {
		if strings.Contains(request, name+" ") {
			key = form(key)
		}
	}
	switch {
	case strings.Contains(request, " header"):
		w.Header().Set("Request-Id", key)
		w.Header().Set("X-Repeated", key)
		fmt.Fprint(w, "{}")
	case strings.Contains(request, " stream"):
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range len(key) { // in pieces that no piece shows to be of a key
			fmt.Fprint(w, key[i:i+1]) //nolint:gosec // what it repeats is the attack
			if i%7 == 0 {
				_ = http.NewResponseController(w).Flush()
			}
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"error": {"message": "this was your request: %s"}}`, key) //nolint:gosec // see above
	}
}
