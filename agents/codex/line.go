package codex

import (
	"context"
	"encoding/json"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// ignoredNotes are notifications that carry nothing, or what comes again as a
// whole with the item they are about.
var ignoredNotes = map[string]bool{
	"thread/started": true, "thread/status/changed": true, "thread/readState/changed": true, "thread/settings/updated": true,
	"thread/name/updated": true, "thread/compacted": true, "thread/closed": true, "thread/queue/changed": true, "thread/goal/cleared": true,
	"thread/goal/updated": true, "thread/environment/connected": true, "thread/environment/disconnected": true,
	"skills/changed": true, "project/changed": true, "fs/changed": true, "app/list/updated": true,
	"account/updated": true, "account/rateLimits/updated": true, "remoteControl/status/changed": true,
	"turn/diff/updated": true, "turn/moderationMetadata": true, "rawResponseItem/completed": true, "rawResponse/completed": true,
	"item/agentMessage/delta": true, "item/plan/delta": true,
	"item/reasoning/summaryTextDelta": true, "item/reasoning/summaryPartAdded": true, "item/reasoning/textDelta": true,
	"item/commandExecution/outputDelta": true, "item/commandExecution/terminalInteraction": true,
	"item/fileChange/outputDelta": true, "item/mcpToolCall/progress": true, "mcpServer/event/stream/notification": true,
	"model/safetyBuffering/updated": true, "model/verification": true,
}

// Line handles one line of the CLI's output.
func (c *peer) Line(ctx context.Context, text []byte) {
	var f frame
	if err := cli.Decode(text, &f); err != nil {
		c.EmitUnknown(text)
		return
	}
	switch {
	case f.Method == "" && len(f.ID) > 0:
		c.response(f, text)
	case f.Method == "":
		c.EmitUnknown(text)
	case len(f.ID) > 0 && string(f.ID) != "null":
		c.request(ctx, f, text)
	default:
		c.notification(f, text)
	}
}

// notification handles a notification of the CLI.
func (c *peer) notification(f frame, text []byte) {
	switch f.Method {
	case "turn/started":
		c.turnStarted(f, text)
	case "turn/completed":
		c.turnCompleted(f, text)
	case "item/started":
		c.item(f, text, false)
	case "item/completed":
		c.item(f, text, true)
	case "item/fileChange/patchUpdated":
		c.patchUpdated(f, text)
	case "turn/plan/updated":
		c.plan(f, text)
	case "thread/tokenUsage/updated":
		c.tokens(f, text)
	case "error":
		c.providerError(f, text)
	case "serverRequest/resolved":
		c.resolved(f, text)
	case "warning", "configWarning", "deprecationNotice", "guardianWarning", "model/rerouted", "mcpServer/startupStatus/updated":
		c.note(f, text)
	default:
		if !ignoredNotes[f.Method] {
			c.EmitUnknown(text)
		}
	}
}

// response handles an answer to a request of ours.
func (c *peer) response(f frame, text []byte) {
	id, err := readID(f.ID)
	if err != nil || id.IsString || id.Num == 0 || id.Num >= callSteer+c.steers {
		c.EmitUnknown(text)
		return
	}
	if f.Error != nil {
		c.refused(id.Num, f.Error.Message)
		return
	}
	var r struct {
		UserAgent string `json:"userAgent"`
		Model     string `json:"model"`
		Thread    struct {
			ID string `json:"id"`
		} `json:"thread"`
		Turn struct {
			ID string `json:"id"`
		} `json:"turn"`
	}
	if err := cli.Decode(cli.Object(f.Result), &r); err != nil {
		c.EmitUnknown(text)
		return
	}
	switch {
	case c.Stopping():
		// The turn is not to begin any more.
	case id.Num == callInitialize && c.version == "":
		c.version = versionOf(r.UserAgent)
		c.initialized()
	case id.Num == callThread && r.Thread.ID == "":
		c.broken("the agent named no thread")
	case id.Num == callThread && c.turnID == "" && c.model == "":
		c.thread, c.model = r.Thread.ID, r.Model
		c.Emit(agents.KindSystemMessage, agents.Message{Text: "Codex " + c.version + ", model " + c.model})
		c.serve()
	case id.Num == callStart && c.turnID == "":
		c.turnID = r.Turn.ID
	}
}

// refused handles an error in answer to a request of ours.
func (c *peer) refused(id uint64, message string) {
	switch {
	case c.Stopping() && id == callInterrupt:
		c.leaveNow() // there is no turn to interrupt any more
	case c.Stopping():
	case id == callInitialize || id == callThread || id == callStart:
		c.broken("the agent refused to begin: " + message)
	default:
		c.Emit(agents.KindSystemMessage, agents.Message{Text: "the agent refused a request: " + cli.Head(message, cli.MaxWords)})
	}
}

// versionOf is the version in the name an app server gives itself, which is
// "client/1.2.3 (system) ...".
func versionOf(userAgent string) string {
	_, rest, _ := strings.Cut(userAgent, "/")
	version, _, _ := strings.Cut(rest, " ")
	return cli.Head(version, 64)
}

// resolved handles the notice that a request needs no answer any more.
func (c *peer) resolved(f frame, text []byte) {
	var r struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if err := cli.Decode(cli.Object(f.Params), &r); err != nil {
		c.EmitUnknown(text)
		return
	}
	if id, err := readID(r.RequestID); err == nil {
		c.Withdraw(id.String())
		delete(c.pending, id.String())
	}
}
