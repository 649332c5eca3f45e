package runner

import (
	"fmt"
	"strings"
	"time"

	"sandboxrun/sandbox"
)

// settle clears the last things away, folds everything known into the result
// and writes it down. The result exists also when it cannot be stored.
func (x *run) settle() *Result {
	began := time.Now()
	x.log.emit("settle", EventPhaseStarted, map[string]any{})
	x.judgeCommands()
	x.endDirt()
	x.tellDenied()
	x.endTree()
	x.clear()
	x.endSession()
	err := x.step(stepLeave, x.plan.Session, x.session.leave)
	if err != nil {
		x.loseTalk("the session is not let go of until this program ends: "+err.Error(), flaw)
	}
	if err = x.log.failure(); err != nil {
		x.findings.add(flaw, Issue{Type: IssueEnv, Code: CodeJournalLost, Description: "events could not be written down: " + err.Error(),
			SuggestedAction: "free space in the state directory"})
	}
	x.timing["settle"] = time.Since(began).Milliseconds()
	x.log.emit("settle", EventPhaseEnded, map[string]any{"duration_ms": x.timing["settle"]})
	x.timing["total"] = time.Since(x.started).Milliseconds()
	res := x.result()
	x.diff = nil // as large as the result, which holds what is told of it
	res = clean(x.secrets, res)
	x.log.emit("settle", EventRunEnded, map[string]any{"status": res.Status, "summary": res.Summary})
	if err := x.dir.Finish(res, x.closeJournals); err != nil {
		res.Issues = append(res.Issues, Issue{Type: IssueEnv, Code: CodeJournalLost, Description: "the result could not be stored: " + x.secrets.String(err.Error()),
			SuggestedAction: "keep this document; free space in the state directory"})
		if res.Status == StatusSuccess {
			res.Status = StatusPartial
		}
	}
	return res
}

// clear removes the trees and lets go of the repository. The trees of a box that
// may still run stay: reap takes both when the engine answers again.
func (x *run) clear() {
	if x.tree != nil && !x.boxLeft() {
		if err := x.closeTree(x.tree); err != nil {
			x.fail("settle", &cleanupError{what: "tree", err: err})
		}
	}
	if !x.boxLeft() {
		err := x.step(stepTrees, x.id, func() error { return x.r.o.State.RemoveTrees(x.id) })
		if err != nil {
			x.fail("settle", &cleanupError{what: "trees of the run", err: err})
		}
	}
	if x.objects != nil {
		if err := x.objects.Close(); err != nil {
			x.fail("settle", &cleanupError{what: "object store", err: err})
		}
	}
	if err := x.repo.Close(); err != nil {
		x.fail("settle", &cleanupError{what: "repository", err: err})
	}
}

func (x *run) result() *Result {
	ended := time.Now()
	res := &Result{
		SchemaVersion: SchemaVersion, TaskID: x.taskID, RunID: x.id, Status: x.status(),
		FilesChanged: []FileChange{}, CommandsRun: append([]CommandRun{}, x.commands...), Tests: x.judged.tests,
		Logs: append([]string{}, x.logFiles...), Issues: x.findings.sorted(),
		Constraints: append([]Judged{}, x.judged.constraints...), Acceptance: append([]Judged{}, x.judged.acceptance...),
		Git:    GitResult{BaseCommit: x.base.ID, Commit: x.commit, Branch: shortBranch(x.branch)},
		Timing: x.timing, NotesForHuman: x.plan.NotesForHuman, StartedAt: x.started.UTC(), EndedAt: ended.UTC(),
		Box: x.boxResult(), Agent: x.agentResult(), Session: x.sessionResult(),
	}
	if x.snapshot != nil {
		res.Git.Tree = x.snapshot.Tree
	}
	if x.diff != nil && len(x.diff.Changes) > 0 {
		if !x.leaks.known {
			res.Git.Patch = x.dir.PatchPath()
		}
		for _, c := range x.diff.Changes {
			res.FilesChanged = append(res.FilesChanged, fileChange(c))
		}
	}
	res.Summary = x.summary(res)
	return res
}

// shortBranch is the name of a branch the way people say it.
func shortBranch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func (x *run) boxResult() *BoxResult {
	l := x.plan.Box.Limits
	layout := x.layout
	if x.tree == nil {
		layout = ""
	}
	return &BoxResult{
		Engine: strings.TrimSpace(x.engine.Name + " " + x.engine.Version), Runtime: x.made.Runtime, Tier: string(x.tier()),
		Image: x.plan.Box.Image, ImageDigest: imageDigest(x.made), Layout: string(layout),
		Limits: BoxLimits{MemoryBytes: l.MemoryBytes, CPUs: l.CPUs, PIDs: l.PIDs, DiskBytes: l.DiskBytes,
			OutputBytes: l.OutputBytes, RuntimeSeconds: x.plan.LimitSeconds},
		Network: BoxNetwork{Mode: "none", Provider: x.providerName(), Setup: append([]string{}, x.plan.Box.SetupAllow...), Denied: x.usage.names()},
		Cleanup: BoxCleanup{Complete: len(x.cleanup) == 0, Left: append([]string{}, x.cleanup...)},
	}
}

func imageDigest(d sandbox.BoxDetails) string {
	if d.ImageDigest != "" {
		return d.ImageDigest
	}
	return d.ImageID
}

func (x *run) agentResult() *AgentResult {
	if x.plan.Agent == nil {
		return nil
	}
	a := &AgentResult{Name: x.plan.Agent.Name, Variant: x.plan.Agent.Variant, Model: x.plan.Agent.Model, Usage: x.usage.agent()}
	if o := x.outcome; o != nil {
		a.CLIVersion, a.SessionID, a.Claim = o.Version, o.SessionID, o.Claim
		a.Usage.ClaimedCostUSD = o.Usage.CostUSD
		if o.Model != "" {
			a.Model = o.Model
		}
	}
	return a
}

// summary is one line made of measured facts; the agent's words are its claim.
func (x *run) summary(res *Result) string {
	parts := []string{plural(len(res.FilesChanged), "file") + " changed"}
	if x.diff == nil {
		parts[0] = "the tree was not captured"
	}
	if res.Tests.Passed != nil {
		parts = append(parts, res.Tests.Details)
	}
	if res.Git.Branch != "" {
		parts = append(parts, "on branch "+res.Git.Branch)
	}
	for _, i := range res.Issues {
		if i.Code != "no_changes" && i.Code != "no_tests_ran" && res.Status != StatusSuccess {
			parts = append(parts, i.Code)
			break
		}
	}
	return strings.Join(parts, "; ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
