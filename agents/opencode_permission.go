package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// opencodeAsk is a request for permission.
type opencodeAsk struct {
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
	Tool opencodeToolRef `json:"tool"`
}

// opencodeToolRef names the call a request is about.
type opencodeToolRef struct {
	Message string `json:"messageID"`
	Call    string `json:"callID"`
}

func (r opencodeToolRef) key() string { return r.Message + "/" + r.Call }

// opencodeCallWait is how long a request may wait for its call to be told, and a
// denial for the calls beside it: long enough for a busy machine, since what was
// allowed is lost otherwise.
const opencodeCallWait = 10 * time.Second

// opencodeWaiting is a request that came before its call.
type opencodeWaiting struct {
	id, call   string
	properties []byte
	put        func() bool
}

// await puts a request to the host once the call it is about is known: some
// tools ask before the server tells what they were called with.
func (t *opencodeTurn) await(id string, tool opencodeToolRef, properties []byte, put func() bool) bool {
	if tool.Call == "" || t.log.byCall[tool.key()] != "" || len(t.waiting) >= maxApprovals || t.stopping() {
		return put()
	}
	t.waiting = append(t.waiting, opencodeWaiting{id, tool.key(), properties, put})
	return true
}

// told puts the requests to the host that waited for a call, or all.
func (t *opencodeTurn) told(call string) {
	var rest []opencodeWaiting
	all := t.waiting
	t.waiting = nil
	for _, w := range all {
		if call != "" && w.call != call {
			rest = append(rest, w)
			continue
		}
		if !w.put() {
			t.strange(w.properties)
		}
	}
	t.waiting = append(t.waiting, rest...)
}

// permission asks the host. A request nobody can answer is not answered, and the
// turn ends by its idle limit.
func (t *opencodeTurn) permission(ctx context.Context, properties json.RawMessage) bool {
	var a opencodeAsk
	if decode(properties, &a) != nil || !opencodeRequestID.MatchString(a.ID) || a.Permission == "" {
		return false
	}
	return t.await(a.ID, a.Tool, properties, func() bool { return t.put(ctx, a.ID, t.request(a, properties)) })
}

// request is what the host is asked; properties are all that the server said.
func (t *opencodeTurn) request(a opencodeAsk, properties json.RawMessage) ApprovalRequest {
	r := ApprovalRequest{ID: a.ID, Tool: a.Permission, Action: t.action(a.Permission), Input: properties, Command: a.Metadata.Command}
	part := t.log.byCall[a.Tool.key()]
	if c := t.log.calls[part]; c != nil {
		in := opencodeTarget(c.input)
		r.ToolID, r.Tool = part, c.tool
		if r.Action == ActionOther || r.Action == c.action {
			// A request about the call itself; the others, such as for a directory
			// outside of the tree, keep what they say.
			r.Action = c.action
		}
		if a.Permission != "external_directory" && a.Permission != "doom_loop" {
			r.Input = c.input
		}
		if r.Command == "" && c.action == ActionCommand {
			r.Command = in.Command
		}
		r.Paths = append(r.Paths, in.File)
	}
	r.Paths = append(r.Paths, a.Metadata.File)
	for _, f := range a.Metadata.Files {
		r.Paths = append(r.Paths, f.File, f.Move)
	}
	r.Paths = opencodePaths(r.Paths)
	return r
}

// opencodePaths is paths without repetitions and without what is empty.
func opencodePaths(paths []string) []string {
	var list []string
	for _, p := range paths {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// put lets the host decide about r; what is refused out of hand is denied.
func (t *opencodeTurn) put(ctx context.Context, key string, r ApprovalRequest) bool {
	refused := t.ask(ctx, key, r)
	if refused == "" {
		return true
	}
	if t.approvals.open[key] == nil { // otherwise the same request came again
		t.tell(opencodeDenial(key, r, refused))
	}
	return false
}

// question asks the host. The server wants answers in the order of the questions.
func (t *opencodeTurn) question(ctx context.Context, properties json.RawMessage) bool {
	var a struct {
		ID        string `json:"id"`
		Questions []struct {
			Question string           `json:"question"`
			Options  []QuestionOption `json:"options"`
			Multiple bool             `json:"multiple"`
		} `json:"questions"`
		Tool opencodeToolRef `json:"tool"`
	}
	if decode(properties, &a) != nil || !opencodeRequestID.MatchString(a.ID) || len(a.Questions) > maxQuestions {
		return false
	}
	r := ApprovalRequest{ID: a.ID, Tool: "question", Action: ActionOther, Input: properties}
	for i, q := range a.Questions {
		r.Questions = append(r.Questions, Question{ID: strconv.Itoa(i), Text: q.Question, Options: q.Options, Multiple: q.Multiple})
	}
	if len(r.Questions) == 0 {
		r.Questions = []Question{{ID: "0"}}
	}
	return t.await(a.ID, a.Tool, properties, func() bool {
		r.ToolID = t.log.byCall[a.Tool.key()]
		return t.put(ctx, a.ID, r)
	})
}

// replied notices that somebody else answered a request. The server does it to
// all others of a session when one is denied. Anyone else has no business there.
func (t *opencodeTurn) replied(properties json.RawMessage) bool {
	var p struct {
		Request string `json:"requestID"`
		Reply   string `json:"reply"`
	}
	if decode(properties, &p) != nil || p.Request == "" {
		return false
	}
	held := slices.IndexFunc(t.held, func(q *asked) bool { return q.key == p.Request })
	waiting := slices.IndexFunc(t.waiting, func(w opencodeWaiting) bool { return w.id == p.Request })
	q := t.approvals.open[p.Request]
	switch {
	case q == nil && held < 0 && waiting < 0:
		return true // ours
	case p.Reply != "reject":
		t.stop(stop{end: EndFailed, code: codeFailed, message: "something in the box approved a call that nobody had decided about"})
		return true
	case held >= 0:
		t.held = slices.Delete(t.held, held, held+1)
	case waiting >= 0:
		t.waiting = slices.Delete(t.waiting, waiting, waiting+1)
	default:
		t.calls.deny(q.request.ToolID)
		t.decided(q)
		t.approvals.withdraw(p.Request)
	}
	t.release(false)
	return true
}
