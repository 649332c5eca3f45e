package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// SessionRequest begins a session, or one session for each of several agents.
type SessionRequest struct {
	SessionID   string          `doc:"Id of the new session; missing for one that is made up."                                                 json:"session_id,omitempty"`
	RepoRoot    string          `doc:"Absolute path of the repository, unless the task names it."                                              json:"repo_root,omitempty"`
	WorkspaceID string          `doc:"Id of a repository of /api/workspaces, in place of repo_root."                                           json:"workspace_id,omitempty"`
	Executor    json.RawMessage `doc:"The agent in the form of a task's agent, a name or an object; a list of two to four of them to compare." json:"executor,omitempty"`
	Variant     string          `doc:"Variant of the one executor that is a name."                                                             json:"variant,omitempty"`
	Model       string          `doc:"Model of the one executor that is a name."                                                               json:"model,omitempty"`
	Base        string          `doc:"Revision to begin from."                                                                                 json:"base,omitempty"`
	Prompt      string          `doc:"What the agent is told; its first sentence is the objective. Excludes task."                             json:"prompt,omitempty"`
	Task        json.RawMessage `doc:"A whole task. What the fields above say, it need not say."                                               json:"task,omitempty"`
}

// SessionAnswer names the session and its first run; for several agents, those of each.
type SessionAnswer struct {
	SessionID string        `json:"session_id,omitempty"`
	Run       *view.RunView `json:"run,omitempty"`
	Sessions  []OpenSession `json:"sessions,omitempty"`
	CompareID string        `doc:"Shared by the runs of one task by several agents." json:"compare_id,omitempty"`
}

// OpenSession is a session of a comparison with its first run.
type OpenSession struct {
	SessionID string       `json:"session_id"`
	Run       view.RunView `json:"run"`
}

// How many agents one task can be given to.
const (
	minCompared = 2
	maxCompared = 4
)

func (s *Server) openingRoutes() {
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/sessions", OperationID: "beginSession", DefaultStatus: http.StatusAccepted,
		Summary:     "Begin a session with a prompt or a task; with several agents, one session each",
		Description: "All tasks of a comparison are accepted, or none.", RequestBody: bodyOf[SessionRequest](s.api, true)}, s.beginSession)
}

func (s *Server) beginSession(ctx context.Context, in *rawInput) (*body[SessionAnswer], error) {
	var q SessionRequest
	if err := decode(in.RawBody, &q, "/task/box/env"); err != nil {
		return nil, err
	}
	o, err := s.openingOf(ctx, q)
	if err != nil {
		return nil, err
	}
	subs := make([]service.Submission, 0, len(o.agents))
	for i := range o.agents {
		sub, err := s.submissionOf(o, i)
		if err != nil {
			return nil, o.placed(err, i)
		}
		subs = append(subs, sub)
	}
	var answer SessionAnswer
	if len(subs) == 1 {
		v, _, err := s.o.Service.Submit(ctx, subs[0])
		if err != nil {
			return nil, coded(o.placed(err, 0))
		}
		exchangeOf(ctx).run = v.RunID
		answer.SessionID, answer.Run = v.SessionID, &v
		return &body[SessionAnswer]{answer}, nil
	}
	views, at, err := s.o.Service.SubmitAll(ctx, subs)
	if err != nil {
		return nil, coded(o.placed(err, at))
	}
	answer.CompareID = o.compare
	for _, v := range views {
		answer.Sessions = append(answer.Sessions, OpenSession{SessionID: v.SessionID, Run: v})
	}
	return &body[SessionAnswer]{answer}, nil
}

// opening is a request to begin sessions, checked as far as it is no task.
type opening struct {
	task    map[string]json.RawMessage
	agents  []json.RawMessage // one nil for that of the task
	session string            // "" for ids that are made up
	compare string            // "" for one agent
	// moved says where the caller wrote what a task has at a place.
	moved map[string]string
}

func (s *Server) openingOf(ctx context.Context, q SessionRequest) (*opening, error) {
	var bad document.Problems
	o := &opening{task: map[string]json.RawMessage{}, session: q.SessionID, moved: map[string]string{}}
	given := len(q.Task) > 0
	switch {
	case given && q.Prompt != "":
		bad.Add("/prompt", "the task has instructions of its own")
	case given:
		if json.Unmarshal(q.Task, &o.task) != nil || o.task == nil {
			bad.Add("/task", "must be an object")
			o.task = map[string]json.RawMessage{}
		}
	case strings.TrimSpace(q.Prompt) == "":
		bad.Add("/prompt", "is missing: it is what the agent is told; or give a task")
	default:
		o.put("objective", service.Objective(q.Prompt), "/prompt")
		o.put("instructions", q.Prompt, "/prompt")
	}
	s.placeOpening(ctx, o, q, &bad)
	o.readAgents(q, &bad)
	if q.SessionID != "" {
		if o.task["session_id"] != nil {
			bad.Add("/session_id", "the task names a session already")
		}
		if why := document.SessionProblem(q.SessionID); why != "" {
			bad.Add("/session_id", "%s", why)
		}
	}
	if len(o.agents) > 1 {
		o.compare = state.NewID()
		if q.SessionID != "" || o.task["session_id"] != nil {
			bad.Add("/session_id", "each agent of a comparison gets a session of its own")
		}
		if o.task["task_id"] != nil {
			bad.Add("/task/task_id", "names one run, and a comparison has several")
		}
	}
	return o, bad.Err("the session cannot begin", `"/openapi.json" describes the request`)
}

// placeOpening puts repository and base into the task.
func (s *Server) placeOpening(ctx context.Context, o *opening, q SessionRequest, bad *document.Problems) {
	place := map[string]json.RawMessage{}
	if raw, ok := o.task["context"]; ok && (json.Unmarshal(raw, &place) != nil || place == nil) {
		return // the task is refused with that
	}
	if q.WorkspaceID != "" {
		root, err := s.rootOf(ctx, q.WorkspaceID)
		switch {
		case q.RepoRoot != "":
			bad.Add("/workspace_id", "repo_root names a repository already")
		case err != nil || root == "":
			bad.Add("/workspace_id", "no repository has this id")
		}
		q.RepoRoot = root
		o.moved["/context/repo_root"] = "/workspace_id"
	}
	for _, f := range []struct{ name, value, from string }{{"repo_root", q.RepoRoot, "/repo_root"}, {"base", q.Base, "/base"}} {
		switch at := "/context/" + f.name; {
		case f.value == "" && place[f.name] == nil && f.name == "repo_root" && q.WorkspaceID == "":
			bad.Add("/repo_root", "is missing: it is the repository to work on")
		case f.value == "":
		case place[f.name] != nil:
			bad.Add(f.from, "the task has %s already", at)
		default:
			place[f.name], _ = json.Marshal(f.value) //nolint:errchkjson // a string
			if o.moved[at] == "" {
				o.moved[at] = f.from
			}
		}
	}
	if len(place) > 0 {
		o.task["context"], _ = json.Marshal(place) //nolint:errchkjson // parts that were read
	}
}

// rootOf is the root of a known repository, "" for none.
func (s *Server) rootOf(ctx context.Context, workspace string) (string, error) {
	list, err := s.workspaces(ctx)
	for _, w := range list {
		if w.ID == workspace {
			return w.Root, nil
		}
	}
	return "", err
}

// readAgents reads who shall do the work.
func (o *opening) readAgents(q SessionRequest, bad *document.Problems) {
	o.agents = []json.RawMessage{nil}
	text := bytes.TrimSpace(q.Executor)
	if len(text) == 0 && q.Variant == "" && q.Model == "" {
		return
	}
	if o.task["agent"] != nil {
		bad.Add("/executor", "the task names an agent already")
		return
	}
	switch {
	case len(text) > 0 && text[0] == '[':
		if json.Unmarshal(text, &o.agents) != nil || len(o.agents) < minCompared || len(o.agents) > maxCompared {
			bad.Add("/executor", "must be one agent, or a list of %d to %d", minCompared, maxCompared)
		}
		if q.Variant != "" || q.Model != "" {
			bad.Add("/executor", "variant and model belong to one agent: each of a list may be an object with name, variant and model")
		}
	case q.Variant == "" && q.Model == "":
		o.agents[0] = text
	default:
		var name string
		if json.Unmarshal(text, &name) != nil {
			bad.Add("/executor", "must be the name of an agent where variant or model are given beside it")
			return
		}
		choice := map[string]string{"name": name}
		for key, value := range map[string]string{"variant": q.Variant, "model": q.Model} {
			if value != "" {
				choice[key] = value
			}
			o.moved["/agent/"+key] = "/" + key
		}
		o.moved["/agent/name"] = "/executor"
		o.agents[0], _ = json.Marshal(choice) //nolint:errchkjson // strings
	}
}

func (o *opening) put(name, value, from string) {
	o.task[name], _ = json.Marshal(value) //nolint:errchkjson // a string
	o.moved["/"+name] = from
}

// submissionOf is the task for one of the agents.
func (s *Server) submissionOf(o *opening, i int) (service.Submission, error) {
	if agent := o.agents[i]; agent != nil {
		o.task["agent"] = agent
	}
	if o.task["session_id"] == nil || o.compare != "" {
		o.put("session_id", o.sessionID(), "/session_id")
	}
	text, err := json.Marshal(o.task)
	if err != nil {
		return service.Submission{}, err
	}
	t, err := document.Decode(text)
	if err != nil {
		return service.Submission{}, err
	}
	repo, err := s.allowed(t.Context.RepoRoot)
	return service.Submission{Task: text, Repo: repo, By: caller, Begins: true, Compare: o.compare}, err
}

// sessionID is the id of a new session. A task with an id always gets the same, so that it may be sent twice.
func (o *opening) sessionID() string {
	if o.session != "" {
		return o.session
	}
	if id := o.task["task_id"]; id != nil {
		sum := sha256.Sum256(id)
		return "s-" + hex.EncodeToString(sum[:12])
	}
	return state.NewID()
}

// placed names the places of problems as the caller wrote them.
func (o *opening) placed(err error, agent int) error {
	input, ok := errors.AsType[*document.InputError](err)
	if !ok {
		return err
	}
	executor := "/executor"
	if o.compare != "" {
		executor += "/" + string(rune('0'+agent))
	}
	for i, d := range input.Details {
		switch rest, ofAgent := strings.CutPrefix(d.Path, "/agent"); {
		case o.moved[d.Path] != "":
			input.Details[i].Path = o.moved[d.Path]
		case ofAgent && o.agents[agent] != nil:
			input.Details[i].Path = executor + rest
		case strings.HasPrefix(d.Path, "/"):
			input.Details[i].Path = "/task" + d.Path
		}
	}
	return err
}
