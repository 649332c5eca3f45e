package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
)

// EndUnbegun gives a task that a person cancelled while it waited the result of a run that did nothing. The engine is
// not asked, and the repository is not read. Whoever dies here leaves a run that is settled as a cancelled one.
func (r *Runner) EndUnbegun(ctx context.Context, as Identity, p *plan.Plan, c mailbox.Cancel) (_ *document.Result, err error) {
	dir, err := r.o.State.NewRunAs(as.ID)
	if err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	x := &facts{identity: newIdentity(dir, p, time.Now()), plan: p, record: record.Record{Dir: dir}}
	_, cerr := dir.Mailbox().Cancel(c, time.Now())
	if err := errors.Join(cerr, dir.WriteWorker(as.Worker)); err != nil {
		return nil, errors.Join(fmt.Errorf("create run: %w", err), dir.Discard())
	}
	if err := x.record.Open(nil); err != nil {
		return nil, errors.Join(fmt.Errorf("create run: %w", err), dir.Discard())
	}
	_, _ = x.hideSecrets(ctx, r.o, "", nil) // without a key there is none to hide
	if err := dir.WritePlan(p); err != nil {
		return nil, errors.Join(fmt.Errorf("create run: %w", err), x.record.Close(), dir.Discard())
	}
	if as.Begun != nil {
		as.Begun(dir)
	}
	x.report = newReport(x.record.Log, p.Box.Limits.OutputBytes)
	x.record.Log.Emit("", journal.RunStarted{TaskID: x.taskID, Objective: p.Objective, Version: r.o.Version})
	x.report.stopped, x.report.interrupted = true, true
	x.report.add(issue(document.CodeCancelled, document.Cancelled{By: c.By, Reason: c.Reason}.Error()+" before it began").
		withSeverity(document.SeverityFatal).withAction("run the task again if it is wanted after all"))
	res := x.record.Redacted(x.result(box.Planned(p), document.AgentUsage{}))
	return res, r.finish(ctx, &x.record, res)
}
