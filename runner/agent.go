package runner

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"

	"sandboxrun/agents"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

var (
	stepRecall = step.Define("talk/restore")
	stepTurn   = step.Define("agent/turn")
	stepWork   = step.Define("work/command")
)

// work is the phase agent: the agent takes its turn, then the commands run whose
// changes count.
func work(ctx context.Context, x *run) error {
	if x.agent != nil {
		step.Before(stepRecall)
		err := x.restoreConversation(ctx)
		step.After(stepRecall)
		if err != nil || x.report.stopped {
			return err
		}
		step.Before(stepTurn)
		err = x.turn(ctx)
		step.After(stepTurn)
		if err != nil {
			return err
		}
		if x.evidence.outcome.End != agents.EndClean {
			return nil // judged by its outcome; commands on half an edit mean nothing
		}
	}
	failed := 0
	for _, text := range x.plan.Work {
		step.Before(stepWork)
		c, err := x.command(ctx, x.boxes.Working, "agent", text)
		step.After(stepWork)
		if err != nil {
			return err
		}
		if *c.ExitCode != 0 {
			failed++
			why := causeOf(c, false, x.plan.Box.Image, x.boxes.Usage.Names())
			x.report.add(issue(document.CodeCommandFailed, fmt.Sprintf("%q exited with %d%s", text, *c.ExitCode, why.what)).of(why).
				withSeverity(x.workSeverity(failed)))
		}
	}
	return nil
}

// workSeverity fails a run whose every command failed and that changed nothing;
// otherwise something was done and the run is partial.
func (x *run) workSeverity(failed int) document.Severity {
	if x.agent == nil && failed == len(x.plan.Work) {
		return document.SeverityFruitless
	}
	return document.SeverityFlaw
}

// turn drives the agent once.
func (x *run) turn(ctx context.Context) error {
	h := x.newHost()
	conversation, resume := x.session.ConversationID()
	p, b := x.plan.Agent, x.boxes.Working
	errs, err := x.record.Dir.Spool("agent.stderr.log")
	if err != nil {
		return err
	}
	out, err := x.agent.Run(ctx, agentBox{b, errs}, agents.Turn{
		Prompt: p.Prompt, Model: p.Model, SessionID: conversation, Resume: resume,
		Wire: p.Wire, BaseURL: egress.BrokerURL(p.Provider), Token: x.boxes.Token,
		Env: p.Environ(), Args: p.Args, Settings: p.Settings, MCP: p.Servers(),
		ReadOnly: p.ReadOnly, Dial: b.Gate.Dial,
	}, h)
	h.finish()
	x.keepAgentLog(errs)
	x.evidence.outcome = &out
	if err != nil || out.End != agents.EndClean {
		x.reportUnreached() // before what the agent says of it: the cause comes first
	}
	if err != nil {
		return fmt.Errorf("agent %s: %w", p.Name, err)
	}
	if pinned := x.agent.Info().Version; out.Version != "" && out.Version != pinned {
		x.report.add(unknownVersion(p.Name, out.Version, pinned))
	}
	if out.End != agents.EndClean {
		x.report.add(issue(out.Code, out.Message).withSeverity(document.SeverityFruitless))
	}
	return nil
}

// reportUnreached names the provider, as the configuration does, when the last thing it did was not to answer.
func (x *run) reportUnreached() {
	why := x.boxes.Usage.Unreached()
	if why == "" {
		return
	}
	name := x.plan.Agent.Provider
	address := x.r.o.Config.Providers[name].BaseURL
	if u, err := url.Parse(address); err == nil {
		address = u.Redacted()
	}
	x.report.add(issue(document.CodeProviderUnreachable, fmt.Sprintf("provider %s at %s could not be reached: %s", name, address, why)))
}

// agentBox is the box as its agent sees it: what the agent's programs write to standard error is also one of the run's
// logs, because adapters read the end of it only, and only when a turn fails.
type agentBox struct {
	sandbox.Sandbox
	errs *excerpt.Spool
}

// Exec runs one process of the agent.
func (b agentBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	if c.Stderr != nil && c.Stderr != io.Discard {
		c.Stderr = io.MultiWriter(c.Stderr, b.errs)
	}
	return b.Sandbox.Exec(ctx, c)
}

// keepAgentLog lists the log of the agent's standard error, and removes an empty one.
func (x *run) keepAgentLog(errs *excerpt.Spool) {
	err := errs.Close()
	if err == nil && errs.Excerpt() == "" {
		err = os.Remove(errs.Path())
	} else {
		x.evidence.logFiles = append(x.evidence.logFiles, errs.Path())
	}
	if err != nil {
		x.record.Log.Remark("the log of the agent's standard error is not whole: %v", err)
	}
}

// unknownVersion says that a CLI is of a version that was not tested; pinned is
// "" for agents that exist by configuration alone.
func unknownVersion(name, version, pinned string) found {
	if pinned == "" {
		return issue(document.CodeAgentVersion, fmt.Sprintf("the image holds %s %s, which this program was not tested with", name, version)).
			withAction("read the run's events before you rely on them")
	}
	return issue(document.CodeAgentVersion, fmt.Sprintf("the image holds %s %s; this program was tested with %s", name, version, pinned))
}
