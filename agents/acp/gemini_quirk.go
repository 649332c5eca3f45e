package acp

import (
	"net/http"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// geminiModel is the model of a turn that names none. Without one the CLI would
// ask a model which model to ask.
const geminiModel = "gemini-2.5-pro"

func geminiQuirks(t agents.Turn) quirks {
	stdio := false
	for _, s := range t.MCP {
		stdio = stdio || s.URL == ""
	}
	return quirks{
		model:   geminiModelOf(t),
		tool:    geminiTool,
		mcp:     func(tool string) bool { return strings.HasPrefix(tool, "mcp_") },
		titled:  true,
		loaded:  "available_commands_update",
		notice:  geminiNotice,
		verdict: geminiVerdict,
		again:   geminiAgain,
		usage:   geminiUsage,
		stays:   stdio,
	}
}

// geminiTool reads the tool from the id of its call, which begins with it.
func geminiTool(u *sessionUpdate) string {
	if i := strings.LastIndex(u.CallID, "__"); i > 0 {
		return u.CallID[:i]
	}
	return ""
}

// geminiNotice drops the echo of a mode that was set.
func geminiNotice(text string, _ bool) noticeKind {
	if strings.HasPrefix(strings.TrimSpace(text), "[MODE_UPDATE]") {
		return noticeSilent
	}
	return noticeNone
}

// geminiAgain says that the stream of an answer broke: the CLI tries failed
// requests again by itself, but not these.
func geminiAgain(f *turnFault) bool {
	return f.code == http.StatusInternalServerError && strings.HasPrefix(f.message, "terminated")
}

func geminiUsage(r promptResult) (agents.Usage, bool) {
	var m struct {
		Quota struct {
			Tokens *struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"`
	}
	if cli.Decode(r.Meta, &m) != nil || m.Quota.Tokens == nil {
		return agents.Usage{}, false
	}
	return agents.Usage{InputTokens: m.Quota.Tokens.Input, OutputTokens: m.Quota.Tokens.Output}, true
}

// geminiVerdict fails a turn that ends without a token: what the CLI makes of
// answers that are empty or broken off.
func geminiVerdict(r promptResult) *turnFault {
	if u, ok := geminiUsage(r); !ok || u.InputTokens+u.OutputTokens == 0 {
		return &turnFault{issue: agents.CodeFailed, message: "the agent ended its turn without an answer of the model"}
	}
	return nil
}

func geminiModelOf(t agents.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return geminiModel
}
