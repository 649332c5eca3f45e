package agents

import (
	"context"
	"encoding/json"
	"strings"
)

// codexNoise are notifications that carry nothing, or what comes again as a
// whole with the item they are about.
var codexNoise = map[string]bool{
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

// line handles one line of the CLI's output.
func (c *codexTurn) line(ctx context.Context, text []byte) {
	var f codexFrame
	if err := decode(text, &f); err != nil {
		c.strange(text)
		return
	}
	switch {
	case f.Method == "" && len(f.ID) > 0:
		c.response(f, text)
	case f.Method == "":
		c.strange(text)
	case len(f.ID) > 0 && string(f.ID) != "null":
		c.request(ctx, f, text)
	default:
		c.notification(f, text)
	}
}

// notification handles a notification of the CLI.
func (c *codexTurn) notification(f codexFrame, text []byte) {
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
		if !codexNoise[f.Method] {
			c.strange(text)
		}
	}
}

// response handles an answer to a request of ours.
func (c *codexTurn) response(f codexFrame, text []byte) {
	id, err := codexID(f.ID)
	if err != nil || id.IsString || id.Num == 0 || id.Num >= codexSteer+c.steers {
		c.strange(text)
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
	if err := decode(object(f.Result), &r); err != nil {
		c.strange(text)
		return
	}
	switch {
	case c.stopping():
		// The turn is not to begin any more.
	case id.Num == codexInitialize && c.version == "":
		c.version = codexVersion(r.UserAgent)
		c.initialized()
	case id.Num == codexThread && r.Thread.ID == "":
		c.broken("the agent named no thread")
	case id.Num == codexThread && c.turnID == "" && c.model == "":
		c.thread, c.model = r.Thread.ID, r.Model
		c.emit(KindSystemMessage, Message{Text: "Codex " + c.version + ", model " + c.model})
		c.start()
	case id.Num == codexStart && c.turnID == "":
		c.turnID = r.Turn.ID
	}
}

// refused handles an error in answer to a request of ours.
func (c *codexTurn) refused(id uint64, message string) {
	switch {
	case c.stopping() && id == codexInterrupt:
		c.leaveNow() // there is no turn to interrupt any more
	case c.stopping():
	case id == codexInitialize || id == codexThread || id == codexStart:
		c.broken("the agent refused to begin: " + message)
	default:
		c.emit(KindSystemMessage, Message{Text: "the agent refused a request: " + head(message, maxWords)})
	}
}

// codexVersion is the version in the name an app server gives itself, which is
// "client/1.2.3 (system) ...".
func codexVersion(userAgent string) string {
	_, rest, _ := strings.Cut(userAgent, "/")
	version, _, _ := strings.Cut(rest, " ")
	return head(version, 64)
}

// resolved handles the notice that a request needs no answer any more.
func (c *codexTurn) resolved(f codexFrame, text []byte) {
	var r struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if err := decode(object(f.Params), &r); err != nil {
		c.strange(text)
		return
	}
	if id, err := codexID(r.RequestID); err == nil {
		c.approvals.withdraw(id.String())
		delete(c.pending, id.String())
	}
}
