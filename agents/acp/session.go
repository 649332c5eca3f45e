package acp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// answered handles the answer to our request, of which there is one at a time.
func (a *peer) answered(ctx context.Context, m agentMessage, text []byte) {
	switch {
	case a.phase == phasePrompting:
		a.prompted(ctx, m, text)
	case a.Stopping(), a.phase == phaseOver:
		// It has been told to leave.
	case a.phase == phaseSetting:
		if m.fault != nil {
			a.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent has no mode for planning: " + m.fault.Message})
		}
		a.put(a.Turn.Prompt)
	case m.fault != nil:
		f := faultOf(m.fault)
		f.message = "the agent refuses to begin: " + f.message
		a.fail(f)
	case a.phase == phaseHello:
		a.greeted(m, text)
	default:
		a.opened(m, text)
	}
}

// greeted handles the answer to initialize.
func (a *peer) greeted(m agentMessage, text []byte) {
	var r struct {
		Version int `json:"protocolVersion"`
		Agent   struct {
			Version string `json:"version"`
		} `json:"agentInfo"`
		Can struct {
			Load bool `json:"loadSession"`
		} `json:"agentCapabilities"`
	}
	if cli.Decode(m.result, &r) != nil || r.Version != acp.ProtocolVersionNumber {
		a.EmitUnknown(text)
		a.fail(turnFault{issue: agents.CodeFailed, message: "the agent does not speak version 1 of its protocol"})
		return
	}
	a.version = cli.Head(r.Agent.Version, maxID)
	switch {
	case a.probing:
		a.end()
	case a.Turn.Resume && !r.Can.Load:
		a.fail(turnFault{issue: agents.CodeFailed, message: "the agent cannot take up a conversation again"})
	case a.Turn.Resume:
		a.session = a.Turn.SessionID
		a.phase = phaseOpening
		a.call(acp.AgentMethodSessionLoad, acp.LoadSessionRequest{SessionId: acp.SessionId(a.session), Cwd: sandbox.WorkDir, McpServers: a.servers()})
	default:
		a.phase = phaseOpening
		a.call(acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: sandbox.WorkDir, McpServers: a.servers()})
	}
}

// servers are the turn's MCP servers. Its lists are empty rather than absent:
// agents insist on that.
func (a *peer) servers() []acp.McpServer {
	list := []acp.McpServer{}
	if a.quirks.noServers {
		return list
	}
	for _, s := range a.Turn.MCP {
		if s.URL != "" {
			headers := []acp.HttpHeader{}
			for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
				headers = append(headers, acp.HttpHeader{Name: name, Value: s.Headers[name]})
			}
			list = append(list, acp.McpServer{Http: &acp.McpServerHttpInline{Type: "http", Name: s.Name, Url: s.URL, Headers: headers}})
			continue
		}
		env := []acp.EnvVariable{}
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			env = append(env, acp.EnvVariable{Name: name, Value: s.Env[name]})
		}
		list = append(list, acp.McpServer{Stdio: &acp.McpServerStdio{Name: s.Name, Command: s.Command, Args: append([]string{}, s.Args...), Env: env}})
	}
	return list
}

// opened handles the answer to session/new or session/load.
func (a *peer) opened(m agentMessage, text []byte) {
	var s sessionResult
	if cli.Decode(m.result, &s) != nil {
		s = sessionResult{}
	}
	if !a.Turn.Resume {
		a.session = s.SessionID
	}
	if a.session == "" || len(a.session) > maxID {
		a.EmitUnknown(text)
		a.session = ""
		a.fail(turnFault{issue: agents.CodeFailed, message: "the agent did not name its session"})
		return
	}
	if name := s.model(); name != "" {
		a.model = cli.Head(name, maxID)
	}
	a.planning = s.plan()
	a.Emit(agents.KindSystemMessage, agents.Message{Text: "version " + a.version + ", model " + a.model})
	if a.Turn.Resume && a.quirks.loaded != "" {
		a.phase = phaseReplaying
		return
	}
	a.set()
}

// set puts a turn that may only look into the CLI's mode for that, and prompts.
func (a *peer) set() {
	if a.quirks.guard != "" && !a.guarded {
		a.fail(turnFault{issue: agents.CodeFailed, message: "the extension that makes the agent ask is not in place"})
		return
	}
	if a.Turn.ReadOnly && a.planning != "" {
		a.phase = phaseSetting
		a.call(acp.AgentMethodSessionSetMode, acp.SetSessionModeRequest{SessionId: acp.SessionId(a.session), ModeId: acp.SessionModeId(a.planning)})
		return
	}
	a.put(a.Turn.Prompt)
}

// put prompts the model.
func (a *peer) put(text string) {
	if strings.HasPrefix(strings.TrimSpace(text), "/") {
		text = "The task: " + text // CLIs obey commands that start so, one that allows everything among them
	}
	a.phase, a.prompt = phasePrompting, promptState{}
	a.call(acp.AgentMethodSessionPrompt, acp.PromptRequest{SessionId: acp.SessionId(a.session), Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
}

// prompted handles the answer to session/prompt, which is the end of the turn
// unless the model is to be prompted again.
func (a *peer) prompted(ctx context.Context, m agentMessage, text []byte) {
	a.flush()
	if a.Stopping() {
		a.phase = phaseOver
		a.Finish()
		return
	}
	if m.fault != nil {
		a.broke(faultOf(m.fault))
		return
	}
	var r promptResult
	if cli.Decode(m.result, &r) != nil || r.StopReason == "" {
		a.EmitUnknown(text)
		a.fail(turnFault{issue: agents.CodeFailed, message: "the agent's turn ended in an unknown way"})
		return
	}
	r.failure = a.prompt.failure
	noted, err := a.notes(ctx)
	a.count(r)
	if err != nil {
		a.fail(turnFault{issue: agents.CodeFailed, message: err.Error()})
		return
	}
	f := a.judge(r)
	if f == nil {
		f = noted
	}
	switch {
	case f != nil:
		a.broke(*f)
	case len(a.prompt.refused) > 0:
		a.goOn()
	default:
		a.clean = true
		a.end()
	}
}

// broke ends the turn for a failure, or repeats its prompt where the CLI gave up
// on a connection at once.
func (a *peer) broke(f turnFault) {
	if a.quirks.again == nil || !a.quirks.again(&f) || a.repeat >= maxRepeats {
		a.fail(f)
		return
	}
	a.repeat++
	a.Emit(agents.KindSystemMessage, agents.Message{Text: "the connection to the model broke: " + f.message + ": the model is asked to go on"})
	a.put("The connection broke off. Go on with the task.")
}

// goOn tells the model why it was denied what it asked for. Some CLIs end its
// turn for that, regularly, and keep the denial from it; none passes the reason on.
func (a *peer) goOn() {
	if a.denied >= maxDenials {
		a.fail(turnFault{issue: agents.CodeFailed, message: "the agent went on asking for what is denied"})
		return
	}
	a.denied++
	var b strings.Builder
	b.WriteString("What you asked for was denied.")
	for i, reason := range a.prompt.refused {
		fmt.Fprintf(&b, "\n%d. %s", i+1, cli.Head(reason, maxReason))
	}
	b.WriteString("\nDo not try the same again. Go on with the task as far as you can without it.")
	text := b.String()
	a.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent's turn ended with a denial; the model is told: " + text})
	a.put(text)
}

// maxReason bounds how much of a reason is passed on, in bytes.
const maxReason = 2 << 10

// count adds up tokens and tells them.
func (a *peer) count(r promptResult) {
	var u agents.Usage
	known := false
	if a.quirks.usage != nil {
		u, known = a.quirks.usage(r)
	}
	switch {
	case known:
	case r.Usage != nil:
		u = r.Usage.usage()
	default:
		u = a.prompt.usage
	}
	turns, cost := a.total.Turns+1, a.total.CostUSD
	if a.quirks.cumulative && r.Usage != nil {
		a.total = agents.Usage{}
	}
	a.total.InputTokens += u.InputTokens
	a.total.OutputTokens += u.OutputTokens
	a.total.CacheReadTokens += u.CacheReadTokens
	a.total.CacheWriteTokens += u.CacheWriteTokens
	a.total.Turns, a.total.CostUSD = turns, cost
	a.Emit(agents.KindUsage, a.total)
}
