package opencode

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// permissionAsk is a request for permission.
type permissionAsk struct {
	ID         string   `json:"id"`
	Permission string   `json:"permission"` // a tool, a group of tools, or external_directory, doom_loop
	Patterns   []string `json:"patterns"`
	Metadata   struct {
		Command string `json:"command"`
		File    string `json:"filepath"`
		URL     string `json:"url"`
		Files   []struct {
			File string `json:"filePath"`
			Move string `json:"movePath"`
		} `json:"files"`
	} `json:"metadata"`
	Tool toolRef `json:"tool"`
}

// await puts a request to the host once the call it is about is known: some
// tools ask before the server tells what they were called with.
func (t *peer) await(id string, tool toolRef, properties []byte, put func() bool) bool {
	if tool.Call == "" || t.log.byCall[tool.key()] != "" || len(t.waiting) >= cli.MaxApprovals || t.Stopping() {
		return put()
	}
	t.waiting = append(t.waiting, waitingAsk{id, tool.key(), properties, put})
	return true
}

// permission asks the host. A request that cannot be answered stays without an answer, and the
// turn ends by its idle limit.
func (t *peer) permission(ctx context.Context, properties json.RawMessage) bool {
	var a permissionAsk
	if cli.Decode(properties, &a) != nil || !requestIDPattern.MatchString(a.ID) || a.Permission == "" {
		return false
	}
	return t.await(a.ID, a.Tool, properties, func() bool { return t.put(ctx, a.ID, t.request(a, properties)) })
}

// request is what the host is asked; properties are all that the server said.
func (t *peer) request(a permissionAsk, properties json.RawMessage) agents.ApprovalRequest {
	r := agents.ApprovalRequest{ID: a.ID, Tool: a.Permission, Action: t.action(a.Permission), Input: properties, Command: a.Metadata.Command}
	part := t.log.byCall[a.Tool.key()]
	if c := t.log.calls[part]; c != nil {
		in := readTarget(c.input)
		r.ToolID, r.Tool = part, c.tool
		if r.Action == agents.ActionOther || r.Action == c.action {
			// A request about the call itself; the others, such as for a directory
			// outside of the tree, keep what they say.
			r.Action = c.action
		}
		if a.Permission != "external_directory" && a.Permission != "doom_loop" {
			r.Input = c.input
		}
		if r.Command == "" && c.action == agents.ActionCommand {
			r.Command = in.Command
		}
		r.Paths = append(r.Paths, in.File)
	}
	r.Paths = append(r.Paths, a.Metadata.File)
	for _, f := range a.Metadata.Files {
		r.Paths = append(r.Paths, f.File, f.Move)
	}
	r.Paths = cleanPaths(r.Paths)
	return r
}

// cleanPaths is paths without repetitions and without what is empty.
func cleanPaths(paths []string) []string {
	var list []string
	for _, p := range paths {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// put lets the host decide about r; what is refused out of hand is denied.
func (t *peer) put(ctx context.Context, key string, r agents.ApprovalRequest) bool {
	refused := t.Ask(ctx, key, r)
	if refused == "" {
		return true
	}
	if t.OpenRequest(key) == nil { // otherwise the same request came again
		t.tell(denialReply(key, r, refused))
	}
	return false
}

// question asks the host. The server wants answers in the order of the questions.
func (t *peer) question(ctx context.Context, properties json.RawMessage) bool {
	var a struct {
		ID        string `json:"id"`
		Questions []struct {
			Question string                  `json:"question"`
			Options  []agents.QuestionOption `json:"options"`
			Multiple bool                    `json:"multiple"`
		} `json:"questions"`
		Tool toolRef `json:"tool"`
	}
	if cli.Decode(properties, &a) != nil || !requestIDPattern.MatchString(a.ID) || len(a.Questions) > cli.MaxQuestions {
		return false
	}
	r := agents.ApprovalRequest{ID: a.ID, Tool: "question", Action: agents.ActionOther, Input: properties}
	for i, q := range a.Questions {
		r.Questions = append(r.Questions, agents.Question{ID: strconv.Itoa(i), Text: q.Question, Options: q.Options, Multiple: q.Multiple})
	}
	if len(r.Questions) == 0 {
		r.Questions = []agents.Question{{ID: "0"}}
	}
	return t.await(a.ID, a.Tool, properties, func() bool {
		r.ToolID = t.log.byCall[a.Tool.key()]
		return t.put(ctx, a.ID, r)
	})
}

// replied notices that somebody else answered a request. The server does it to
// all others of a session when one is denied. Anyone else has no business there.
func (t *peer) replied(properties json.RawMessage) bool {
	var p struct {
		Request string `json:"requestID"`
		Reply   string `json:"reply"`
	}
	if cli.Decode(properties, &p) != nil || p.Request == "" {
		return false
	}
	held := slices.IndexFunc(t.held, func(q *cli.Asked) bool { return q.Key == p.Request })
	waiting := slices.IndexFunc(t.waiting, func(w waitingAsk) bool { return w.id == p.Request })
	q := t.OpenRequest(p.Request)
	switch {
	case q == nil && held < 0 && waiting < 0:
		return true // ours
	case p.Reply != "reject":
		t.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeFailed, Message: "something in the box approved a call that nobody had decided about"})
		return true
	case held >= 0:
		t.held = slices.Delete(t.held, held, held+1)
	case waiting >= 0:
		t.waiting = slices.Delete(t.waiting, waiting, waiting+1)
	default:
		t.Calls.Deny(q.Request.ToolID)
		t.decided(q)
		t.Withdraw(p.Request)
	}
	t.release(false)
	return true
}
