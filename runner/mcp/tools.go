package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sandboxrun/runner/document"
	"sandboxrun/runner/service"
)

// tool is one entry of the list of tools.
type tool struct {
	name, title, description string
	in, out                  object
	hints                    sdk.ToolAnnotations
	do                       func(c *call, ctx context.Context, arguments []byte) (answer, error)
}

func (t tool) describe() *sdk.Tool {
	return &sdk.Tool{Name: t.name, Title: t.title, Description: t.description, InputSchema: t.in, OutputSchema: t.out, Annotations: &t.hints}
}

// No tool acts on anything but runs of this machine.
var (
	no    = false
	reads = sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	runs  = sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
	ends  = sdk.ToolAnnotations{IdempotentHint: true, OpenWorldHint: &no}
)

var (
	runID = text("Whole id of the run, as execute_task gives it.")
	wait  = object{"wait_seconds": number("Answer after so many seconds even if the run goes on; 0 at once. Clients that take no progress get an answer within 50 seconds.", 0, maxWait)}
)

// maxWait is the longest time a client may want to wait, in seconds.
const maxWait = 86_400

func (s *Server) tools() []tool {
	repeatable := runs
	repeatable.IdempotentHint = true // the same task under the same task_id is run once
	return []tool{
		{"execute_task", "Run a task", "Runs one settled, bounded task in a throwaway container and returns its measured result, or a run_id to wait for. " +
			"The change lands as one new branch of the repository; its working tree stays as it is. The same task under the same task_id is run once.",
			taskArguments(with(wait, "task", nil)), outcomeSchema(), repeatable, (*call).execute},
		{"wait_run", "Wait for a run", "Returns the result of a run once it has one, or says that it goes on.",
			arguments([]string{"run_id"}, with(wait, "run_id", runID)), outcomeSchema(), reads, (*call).waitRun},
		{"get_run", "Show a run", "Shows where a run is, without waiting.",
			arguments([]string{"run_id"}, object{"run_id": runID}), viewSchema, reads, (*call).getRun},
		{"get_diff", "Show the change of a run", "Returns the patch of an ended run, or the part of one path.",
			arguments([]string{"run_id"}, object{"run_id": runID, "path": text("Only this file, relative to the root of the repository."),
				"max_bytes": number("At most so many bytes; by default 65536.", 1, maxDiff)}), diffSchema, reads, (*call).getDiff},
		{"follow_up", "Continue a session", "Tells the agent of a session what to do next; what is not said stays as in the session's last run. Answers as execute_task does.",
			arguments([]string{"session_id", "prompt"}, with(with(with(with(wait, "session_id", text("Session of an earlier task.")), "prompt", text("What the agent is told.")),
				"variant", text("Variant of the agent's profile.")), "retry_run_id", text("Return to the state before this run of the session."))),
			outcomeSchema(), runs, (*call).followUp},
		{"cancel_run", "Cancel a run", "Asks for the end of a run. What was done so far stays in its patch, and nothing lands.",
			arguments([]string{"run_id"}, object{"run_id": runID, "reason": text("For the result.")}), viewSchema, ends, (*call).cancelRun},
		{"list_agents", "List agents", "Lists the agents that tasks can name, their variants, and whether a key is set.",
			arguments([]string{}, object{}), agentsSchema, reads, (*call).listAgents},
	}
}

// call is one call of a tool.
type call struct {
	*Server

	session *sdk.ServerSession
	token   any // of the progress the client wants, nil for none
	began   time.Time
}

// handler carries out calls. Whatever goes wrong is an answer that the model of the client can read.
func (s *Server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		select {
		case s.calls <- struct{}{}:
			defer func() { <-s.calls }()
		default:
			return failed(&document.BridgeError{Message: "too many calls wait already", Hint: "call again when one of them was answered"}), nil
		}
		c := &call{Server: s, session: req.Session, token: req.Params.GetProgressToken(), began: time.Now()}
		a, err := t.do(c, ctx, req.Params.Arguments)
		if err != nil {
			return failed(err), nil
		}
		return a.result(), nil
	}
}

// decode reads arguments as strictly as a task.
func decode(data []byte, into any) error {
	if len(data) == 0 {
		data = []byte("{}")
	}
	var p document.Problems
	if _, ok := document.StrictJSON(data, []string{"/task/box/env"}, &p); ok && p.Empty() {
		err := jsonv2.Unmarshal(data, into, jsonv2.RejectUnknownMembers(true))
		if bad, wrong := errors.AsType[*jsonv2.SemanticError](err); wrong {
			p.Add(string(bad.JSONPointer), "is not known here, or not of this type")
		} else if err != nil {
			p.Add("", "%v", err)
		}
	}
	return p.Err("the arguments are not valid", "the tool's input schema describes them")
}

func (c *call) execute(ctx context.Context, arguments []byte) (answer, error) {
	var in struct {
		Task json.RawMessage `json:"task"`
		Wait *int            `json:"wait_seconds"`
	}
	err := decode(arguments, &in)
	if err == nil && len(in.Task) == 0 {
		err = document.InputAt("/task", "is missing")
	}
	if err == nil {
		err = c.permitted(in.Task)
	}
	if err != nil {
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, acceptBound)
	defer cancel()
	v, err := c.o.Runs.Submit(limited, in.Task)
	if err != nil {
		return answer{}, late(ctx, limited, err)
	}
	return c.await(ctx, v.RunID, in.Wait)
}

func (c *call) followUp(ctx context.Context, arguments []byte) (answer, error) {
	var in struct {
		Session string `json:"session_id"`
		Prompt  string `json:"prompt"`
		Variant string `json:"variant"`
		Retry   string `json:"retry_run_id"`
		Wait    *int   `json:"wait_seconds"`
	}
	if err := decode(arguments, &in); err != nil {
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, acceptBound)
	defer cancel()
	v, err := c.o.Runs.FollowUp(limited, in.Session, service.FollowUp{Prompt: in.Prompt, Variant: in.Variant, RetryRun: in.Retry, By: by})
	if err != nil {
		return answer{}, late(ctx, limited, err)
	}
	return c.await(ctx, v.RunID, in.Wait)
}

func (c *call) waitRun(ctx context.Context, arguments []byte) (answer, error) {
	var in struct {
		Run  string `json:"run_id"`
		Wait *int   `json:"wait_seconds"`
	}
	if err := decode(arguments, &in); err != nil {
		return answer{}, err
	}
	if _, err := c.o.Runs.Run(ctx, in.Run); err != nil {
		return answer{}, err
	}
	return c.await(ctx, in.Run, in.Wait)
}

func (c *call) getRun(ctx context.Context, arguments []byte) (answer, error) {
	var in struct {
		Run string `json:"run_id"`
	}
	if err := decode(arguments, &in); err != nil {
		return answer{}, err
	}
	v, err := c.o.Runs.Run(ctx, in.Run)
	return answer{value: v}, err
}

func (c *call) cancelRun(ctx context.Context, arguments []byte) (answer, error) {
	var in struct {
		Run    string `json:"run_id"`
		Reason string `json:"reason"`
	}
	if err := decode(arguments, &in); err != nil {
		return answer{}, err
	}
	v, err := c.o.Runs.Cancel(ctx, in.Run, in.Reason)
	return answer{value: v}, err
}

var agentsSchema = object{"type": "object", "required": []string{"agents"}, "properties": object{"agents": object{"type": "array", "items": object{"type": "object"}}}}

func (c *call) listAgents(ctx context.Context, arguments []byte) (answer, error) {
	if err := decode(arguments, &struct{}{}); err != nil {
		return answer{}, err
	}
	list, err := c.o.Runs.Agents(ctx)
	return answer{value: map[string]any{"agents": list}}, err
}
