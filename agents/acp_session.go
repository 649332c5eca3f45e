package agents

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"sandboxrun/sandbox"
)

// answered handles the answer to our request, of which there is one at a time.
func (a *acpTurn) answered(m acpMessage, text []byte) {
	switch {
	case a.phase == acpPrompting:
		a.prompted(m, text)
	case a.stopping(), a.phase == acpOver:
		// It has been told to leave.
	case a.phase == acpSetting:
		if m.fault != nil {
			a.emit(KindSystemMessage, Message{Text: "the agent has no mode for planning: " + m.fault.Message})
		}
		a.put(a.turn.Prompt)
	case m.fault != nil:
		f := acpError(m.fault)
		f.message = "the agent refuses to begin: " + f.message
		a.fail(f)
	case a.phase == acpHello:
		a.greeted(m, text)
	default:
		a.opened(m, text)
	}
}

// greeted handles the answer to initialize.
func (a *acpTurn) greeted(m acpMessage, text []byte) {
	var r struct {
		Version int `json:"protocolVersion"`
		Agent   struct {
			Version string `json:"version"`
		} `json:"agentInfo"`
		Can struct {
			Load bool `json:"loadSession"`
		} `json:"agentCapabilities"`
	}
	if decode(m.result, &r) != nil || r.Version != acp.ProtocolVersionNumber {
		a.strange(text)
		a.fail(acpFault{issue: codeFailed, message: "the agent does not speak version 1 of its protocol"})
		return
	}
	a.version = head(r.Agent.Version, maxACPID)
	switch {
	case a.probing:
		a.end()
	case a.turn.Resume && !r.Can.Load:
		a.fail(acpFault{issue: codeFailed, message: "the agent cannot take up a conversation again"})
	case a.turn.Resume:
		a.session = a.turn.SessionID
		a.phase = acpOpening
		a.call(acp.AgentMethodSessionLoad, acp.LoadSessionRequest{SessionId: acp.SessionId(a.session), Cwd: sandbox.WorkDir, McpServers: a.servers()})
	default:
		a.phase = acpOpening
		a.call(acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: sandbox.WorkDir, McpServers: a.servers()})
	}
}

// servers are the turn's MCP servers. Its lists are empty rather than absent:
// agents insist on that.
func (a *acpTurn) servers() []acp.McpServer {
	list := []acp.McpServer{}
	if a.quirks.noServers {
		return list
	}
	for _, s := range a.turn.MCP {
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
func (a *acpTurn) opened(m acpMessage, text []byte) {
	var s acpSession
	if decode(m.result, &s) != nil {
		s = acpSession{}
	}
	if !a.turn.Resume {
		a.session = s.SessionID
	}
	if a.session == "" || len(a.session) > maxACPID {
		a.strange(text)
		a.session = ""
		a.fail(acpFault{issue: codeFailed, message: "the agent did not name its session"})
		return
	}
	if name := s.model(); name != "" {
		a.model = head(name, maxACPID)
	}
	a.planning = s.plan()
	a.emit(KindSystemMessage, Message{Text: "version " + a.version + ", model " + a.model})
	if a.turn.Resume && a.quirks.loaded != "" {
		a.phase = acpReplaying
		return
	}
	a.set()
}

// set puts a turn that may only look into the CLI's mode for that, and prompts.
func (a *acpTurn) set() {
	if a.turn.ReadOnly && a.planning != "" {
		a.phase = acpSetting
		a.call(acp.AgentMethodSessionSetMode, acp.SetSessionModeRequest{SessionId: acp.SessionId(a.session), ModeId: acp.SessionModeId(a.planning)})
		return
	}
	a.put(a.turn.Prompt)
}

// put prompts the model.
func (a *acpTurn) put(text string) {
	if strings.HasPrefix(strings.TrimSpace(text), "/") {
		text = "The task: " + text // CLIs obey commands that start so, one that allows everything among them
	}
	a.phase, a.prompt = acpPrompting, acpPrompt{}
	a.call(acp.AgentMethodSessionPrompt, acp.PromptRequest{SessionId: acp.SessionId(a.session), Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
}

// prompted handles the answer to session/prompt, which is the end of the turn
// unless the model is to be prompted again.
func (a *acpTurn) prompted(m acpMessage, text []byte) {
	a.flush()
	if a.stopping() {
		a.phase = acpOver
		a.finish()
		return
	}
	if m.fault != nil {
		a.broke(acpError(m.fault))
		return
	}
	var r acpPromptResult
	if decode(m.result, &r) != nil || r.StopReason == "" {
		a.strange(text)
		a.fail(acpFault{issue: codeFailed, message: "the agent's turn ended in an unknown way"})
		return
	}
	r.failure = a.prompt.failure
	a.count(r)
	switch f := a.judge(r); {
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
func (a *acpTurn) broke(f acpFault) {
	if a.quirks.again == nil || !a.quirks.again(&f) || a.repeat >= acpAgain {
		a.fail(f)
		return
	}
	a.repeat++
	a.emit(KindSystemMessage, Message{Text: "the connection to the model broke: " + f.message + ": the model is asked to go on"})
	a.put("The connection broke off. Go on with the task.")
}

// goOn tells the model why it was denied what it asked for. Some CLIs end its
// turn for that, regularly, and keep the denial from it; none passes the reason on.
func (a *acpTurn) goOn() {
	if a.denied >= acpDenials {
		a.fail(acpFault{issue: codeFailed, message: "the agent went on asking for what is denied"})
		return
	}
	a.denied++
	var b strings.Builder
	b.WriteString("What you asked for was denied.")
	for i, reason := range a.prompt.refused {
		fmt.Fprintf(&b, "\n%d. %s", i+1, head(reason, maxACPReason))
	}
	b.WriteString("\nDo not try the same again. Go on with the task as far as you can without it.")
	text := b.String()
	a.emit(KindSystemMessage, Message{Text: "the agent's turn ended with a denial; the model is told: " + text})
	a.put(text)
}

// maxACPReason bounds how much of a reason is passed on, in bytes.
const maxACPReason = 2 << 10

// count adds up tokens and tells them.
func (a *acpTurn) count(r acpPromptResult) {
	var u Usage
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
		a.total = Usage{}
	}
	a.total.InputTokens += u.InputTokens
	a.total.OutputTokens += u.OutputTokens
	a.total.CacheReadTokens += u.CacheReadTokens
	a.total.CacheWriteTokens += u.CacheWriteTokens
	a.total.Turns, a.total.CostUSD = turns, cost
	a.emit(KindUsage, a.total)
}
