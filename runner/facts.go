package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/land"
	"sandboxrun/runner/check"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/harness"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
	"sandboxrun/runner/session"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox/egress"
)

// facts is what is known of a run: what its result is made from. A run under way
// and one whose runner died have the same facts, gathered in different ways.
type facts struct {
	identity
	plan     *plan.Plan
	base     gitdiff.Commit // what the work starts from; zero where the run had none yet
	record   record.Record
	evidence evidence
	change   captured
	landed   landing
	report   report
	session  *session.Turn // nil without a session
}

// identity says which run it is.
type identity struct {
	id      string
	taskID  string // the task's, or the run's where it has none
	started time.Time
}

func newIdentity(dir *state.RunDir, p *plan.Plan, started time.Time) identity {
	return identity{id: dir.ID(), taskID: cmp.Or(p.TaskID, dir.ID()), started: started}
}

// evidence is what was measured of the work, and what the agent says of it.
type evidence struct {
	commands  []document.CommandRun
	logFiles  []string
	verified  []verifyOutcome
	baselines []verifyOutcome
	inputs    []string        // paths that set-up reads and the change touches, as the verification found them
	restored  []verifyOutcome // with tests and configuration of the base over the change
	surface   harness.Surface
	goAPI     *check.GoAPI    // nil where nothing asked for it
	late      string          // why commands were not compared with the base, "" where they were
	refused   []string        // hosts and ports that the boxes were not let to reach
	outcome   *agents.Outcome // nil before the agent's turn ended
}

// landing is the branch that a run made; both are empty where it made none.
type landing struct{ commit, ref string }

// status is the verdict over the run as far as it is known.
func (f *facts) status() document.Status { return f.report.status(f.change.any()) }

// hideSecrets keeps the secrets of the run out of everything that is written
// about it: those of the host and the task, the provider's key, and the token
// that stands for the key in boxes. The key is read at once, before anything
// could reveal it, and whatever it is renewed to becomes known with the request
// that first carries it: by the returned function. The error says why the key
// cannot be hidden.
func (f *facts) hideSecrets(ctx context.Context, o Options, token string, key egress.KeyFunc) (_ egress.KeyFunc, unhidden error) {
	secrets := config.HostSecrets(o.Config, o.Getenv)
	f.record.Hide(secrets)
	for name, value := range f.plan.TaskSecrets() {
		_ = secrets.Add(name, value) // what is too plain for that does not look secret
	}
	if token != "" {
		_ = secrets.Add(config.PlaceholderName, token) // never too plain
	}
	if key == nil {
		return nil, nil
	}
	var once sync.Once
	name := f.plan.ProviderName() + "-key"
	hidden := func(ctx context.Context) (egress.Credential, error) {
		c, err := key(ctx)
		if err == nil {
			err := secrets.Add(name, c.Value)
			once.Do(func() { unhidden = err })
		}
		return c, err
	}
	_, _ = hidden(ctx) // what is wrong with the key is the broker's to report
	return hidden, unhidden
}

// sessionLost reports what of a session could not be kept or restored.
func (f *facts) sessionLost(text string, s document.Severity) {
	f.report.add(issue(document.CodeSessionLost, text).withSeverity(s))
}

// message is the landed commit's. It holds nothing the agent wrote.
func (f *facts) message() string {
	return f.record.Secrets.String(f.plan.Objective + "\n\n" + f.plan.NotesForHuman)
}

// trailers are what the landed commit says about where it comes from.
func (f *facts) trailers() []land.Trailer {
	hide := f.record.Secrets.String
	list := []land.Trailer{{Key: "Task", Value: hide(f.taskID)}, {Key: "Run", Value: f.id}, {Key: "Base", Value: f.base.ID}}
	if f.plan.Session != "" {
		list = append(list, land.Trailer{Key: "Session", Value: hide(f.plan.Session)})
	}
	if f.plan.Agent != nil {
		list = append(list, land.Trailer{Key: "Agent", Value: f.plan.Agent.Name})
	}
	return list
}

// result makes the result document. boxes and usage are what the boxes of this
// process did.
func (f *facts) result(boxes *document.BoxResult, usage document.AgentUsage) *document.Result {
	f.report.timing["total"] = time.Since(f.started).Milliseconds()
	res := &document.Result{
		SchemaVersion: document.SchemaVersion, TaskID: f.taskID, RunID: f.id, Status: f.status(),
		FilesChanged: []document.FileChange{}, CommandsRun: append([]document.CommandRun{}, f.evidence.commands...), Tests: f.report.tests,
		Logs: append([]string{}, f.evidence.logFiles...), Issues: f.report.sorted(),
		Constraints: append([]document.Judged{}, f.report.constraints...), Acceptance: append([]document.Judged{}, f.report.acceptance...),
		Git:    document.GitResult{BaseCommit: f.base.ID, Commit: f.landed.commit, Branch: shortBranch(f.landed.ref), Refused: f.report.refusals},
		Timing: f.report.timing, NotesForHuman: f.plan.NotesForHuman, StartedAt: f.started.UTC(), EndedAt: time.Now().UTC(),
		Box: boxes, Agent: f.agentResult(usage), Session: f.session.Result(),
	}
	if f.plan.Agent != nil {
		res.Claims = claimsOf(f.evidence, f.report.tests)
	}
	boxes.Cleanup = document.BoxCleanup{Complete: len(f.report.left) == 0, Left: append([]string{}, f.report.left...)}
	if f.change.snapshot != nil {
		res.Git.Tree = f.change.snapshot.Tree
	}
	if f.change.any() {
		if f.change.patched {
			res.Git.Patch = f.record.Dir.PatchPath()
		}
		res.FilesChanged, res.FilesOmitted = listed(f.change.diff.Changes, maxListed)
	}
	res.Summary = f.summary(res)
	return res
}

// shortBranch is the name of a branch the way people say it.
func shortBranch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func (f *facts) agentResult(usage document.AgentUsage) *document.AgentResult {
	if f.plan.Agent == nil {
		return nil
	}
	a := &document.AgentResult{Name: f.plan.Agent.Name, Variant: f.plan.Agent.Variant, Model: f.plan.Agent.Model, Usage: usage}
	if o := f.evidence.outcome; o != nil {
		a.CLIVersion, a.SessionID, a.Claim = o.Version, o.SessionID, o.Claim
		a.Usage.ClaimedCostUSD = o.Usage.CostUSD
		a.Model = cmp.Or(o.Model, a.Model)
	}
	return a
}

// summary is one line made of measured facts; the agent's words are its claim.
func (f *facts) summary(res *document.Result) string {
	parts := []string{excerpt.Plural(len(res.FilesChanged)+res.FilesOmitted, "file") + " changed"}
	if !f.change.captured() {
		parts[0] = "the tree was not captured"
	}
	if res.Tests.Passed != nil {
		parts = append(parts, res.Tests.Details)
	}
	if unmeasured := f.plan.Unmeasured(); unmeasured > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d criteria not measurable", unmeasured, len(f.plan.Criteria)))
	}
	if res.Git.Branch != "" {
		parts = append(parts, "on branch "+res.Git.Branch)
	}
	for _, i := range res.Issues {
		if i.Code != document.CodeNoChanges && res.Status != document.StatusSuccess {
			parts = append(parts, i.Code)
			break
		}
	}
	return strings.Join(parts, "; ")
}

// verifyOutcome is one command of the verification; a nil ExitCode means that
// it did not run to its end.
type verifyOutcome struct {
	plan.VerifyCommand
	run    document.CommandRun
	stale  bool              // it ran over a set-up that the change has outdated, so that a pass tells nothing
	report harness.Report    // of the test runners it started
	worth  harness.Judgement // what a pass of it stands for
	cause  cause             // what of the machine it failed of, as it seems
}

func (v verifyOutcome) passed() bool { return v.run.ExitCode != nil && *v.run.ExitCode == v.ExpectExit }

// worthNote says what a pass rests on beside the exit code.
func (v verifyOutcome) worthNote() string {
	if v.worth.Why == "" {
		return ""
	}
	return "; " + v.worth.Why
}
