package acp

import (
	"regexp"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
)

const (
	// copilotCache is where the image has what the CLI would unpack into HOME.
	copilotCache = "/opt/copilot-cache"
	// The models of a turn that names none: the CLI needs one with a provider of ours.
	copilotModel       = "gpt-5.4"
	copilotClaudeModel = "claude-sonnet-4.6"
)

func copilotQuirks(t agents.Turn) quirks {
	prefixes := make([]string, 0, len(t.MCP))
	for _, s := range t.MCP {
		prefixes = append(prefixes, s.Name+"-")
	}
	return quirks{
		model:     copilotModelOf(t),
		tool:      copilotTool,
		noServers: true,
		notice:    copilotNotice,
		verdict:   copilotVerdict,
		// Every answer counts the session from its start, in this process.
		cumulative: true,
		mcp: func(tool string) bool {
			for _, p := range prefixes {
				if strings.HasPrefix(tool, p) {
					return true
				}
			}
			return false
		},
	}
}

// copilotToolName is what the title of a call is where it is the tool's name.
var copilotToolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// copilotTool tells the tool by the call's kind and input.
func copilotTool(u *sessionUpdate) string {
	var in struct {
		Text *string `json:"file_text"`
		Old  *string `json:"old_str"`
	}
	if cli.Decode(cli.Object(u.Input), &in) != nil {
		return ""
	}
	switch {
	case u.Kind == acp.ToolKindExecute:
		return "bash"
	case u.Kind == acp.ToolKindEdit && in.Text != nil:
		return "create"
	case u.Kind == acp.ToolKindEdit && in.Old != nil:
		return "edit"
	case u.Kind == acp.ToolKindRead:
		return "view"
	case copilotToolName.MatchString(u.Title):
		return u.Title
	}
	return ""
}

// The CLI words what it has to say itself as if the model had said it, in chunks
// of their own that begin so.
const (
	copilotInfoPrefix  = "Info: "
	copilotErrorPrefix = "Error: "
)

// copilotFailures are how the errors go on that may follow words of the model.
var copilotFailures = []string{"Authentication failed", "Failed to get response", "Could not connect", "Request failed", "Execution failed"}

// copilotNotice reads a chunk. A model's own words that begin like the CLI's are
// taken for those: at worst a turn counts as failed that was none.
func copilotNotice(text string, fresh bool) noticeKind {
	if rest, ok := strings.CutPrefix(text, copilotErrorPrefix); ok {
		if fresh {
			return failedChunk
		}
		for _, f := range copilotFailures {
			if strings.HasPrefix(rest, f) {
				return failedChunk
			}
		}
	}
	if strings.HasPrefix(text, copilotInfoPrefix) {
		return noticeRemark
	}
	return noticeNone
}

// copilotVerdict fails a turn in which the model was never asked: the answer
// then counts no tokens at all.
func copilotVerdict(r promptResult) *turnFault {
	if r.Usage == nil {
		return &turnFault{issue: agents.CodeFailed, message: "the agent ended its turn without an answer of the model"}
	}
	return nil
}

// copilotModelOf is the model a turn asks for.
func copilotModelOf(t agents.Turn) string {
	switch {
	case t.Model != "":
		return t.Model
	case t.Wire == wire.AnthropicMessages:
		return copilotClaudeModel
	}
	return copilotModel
}
