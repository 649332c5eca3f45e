package runner

import (
	"context"
	"fmt"

	"sandboxrun/agents"
	"sandboxrun/runner/step"
)

// work lets the agent take its turn, then runs the commands whose changes count.
func (x *run) work(ctx context.Context) error {
	if x.agent != nil {
		err := step.Do(ctx, stepRecall, "", func() error { return x.recall(ctx) })
		if err != nil || x.findings.stopped {
			return err
		}
		err = step.Do(ctx, stepTurn, x.plan.Agent.Name, func() error { return x.turn(ctx) })
		if err != nil {
			return err
		}
		if x.outcome.End != agents.EndClean {
			return nil // judged by its outcome; commands on half an edit mean nothing
		}
	}
	failed := 0
	for _, text := range x.plan.Work {
		done := step.Begin(ctx, stepWork, roleAgent)
		c, err := x.command(ctx, x.box, "agent", text)
		done(err)
		if err != nil {
			return err
		}
		if *c.ExitCode != 0 {
			failed++
			x.findings.add(x.workSeverity(failed), Issue{Type: IssueTestFailure, Code: "command_failed",
				Description:     fmt.Sprintf("%q exited with %d", text, *c.ExitCode),
				SuggestedAction: "read the command's output in commands_run and its log"})
		}
	}
	return nil
}

// workSeverity lets a run whose every command failed, and that changed nothing,
// fail; otherwise something was done and the run is partial.
func (x *run) workSeverity(failed int) severity {
	if x.agent == nil && failed == len(x.plan.Work) {
		return fruitless
	}
	return flaw
}

// turn drives the agent once.
func (x *run) turn(ctx context.Context) error {
	h := newHost(x)
	talk, resume := x.conversation()
	out, err := x.agent.Run(ctx, x.box, agents.Turn{
		Prompt: x.plan.Agent.Prompt, Model: x.plan.Agent.Model, SessionID: talk, Resume: resume,
		Wire: x.plan.Agent.Wire, BaseURL: x.brokerURL(), Token: x.token,
		Env: x.plan.Agent.environ(), Args: x.plan.Agent.Args, Settings: x.plan.Agent.Settings, MCP: x.plan.Agent.servers(),
		ReadOnly: x.plan.Agent.ReadOnly, Dial: x.box.gate.Dial,
	}, h)
	h.finish()
	x.outcome = &out
	if err != nil {
		return fmt.Errorf("agent %s: %w", x.plan.Agent.Name, err)
	}
	if pinned := x.agent.Info().Version; out.Version != "" && out.Version != pinned {
		x.findings.add(note, unknownVersion(x.plan.Agent.Name, out.Version, pinned))
	}
	if out.End != agents.EndClean {
		x.findings.add(fruitless, Issue{Type: IssueEnv, Code: out.Code, Description: out.Message, SuggestedAction: agentAdvice(out.Code)})
	}
	return nil
}

// unknownVersion says that a CLI is of a version nobody has watched; pinned is
// "" for agents that are there by configuration alone.
func unknownVersion(name, version, pinned string) Issue {
	i := Issue{Type: IssueEnv, Code: "agent_version_unknown",
		Description:     fmt.Sprintf("the image holds %s %s; this program was tested with %s", name, version, pinned),
		SuggestedAction: "run \"sandboxrun image build\""}
	if pinned == "" {
		i.Description = fmt.Sprintf("the image holds %s %s, which this program was not tested with", name, version)
		i.SuggestedAction = "look at the run's events before you rely on them"
	}
	return i
}

// agentAdvice says what a person can do about an agent that did not end well.
func agentAdvice(code string) string {
	switch code {
	case "agent_auth":
		return "check the provider's key and base_url"
	case "agent_failed":
		return "read the message: the agent itself says what went wrong"
	case "agent_quota":
		return "wait for the provider's limit to pass, or use another key"
	}
	return "read the run's events; run the task again"
}
