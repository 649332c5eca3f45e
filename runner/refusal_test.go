package runner

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

// appliable makes an ended run of this state whose change is a new file, and a link out of the tree where link is set.
func appliable(t *testing.T, r *gitdifftest.Repository, link bool, p plan.Plan, res document.Result) (*Runner, string) {
	t.Helper()
	r.Write("base", "x\n")
	base := r.Commit("base")
	r.Write("new", "n\n")
	if link {
		r.Link("out", "/etc/passwd")
	}
	r.Git("add", "-A")
	tree := r.Git("write-tree")
	r.Git("reset", "-q", "--hard")
	st := openState(t)
	d, err := st.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	p.RepoRoot = r.Dir
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Dir(), "plan.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	res.FilesChanged = []document.FileChange{{Path: "new"}}
	res.Git.BaseCommit, res.Git.Tree, res.Git.Patch = base, tree, d.PatchPath()
	if err := d.Finish(&res, func() error { return nil }, nil); err != nil {
		t.Fatal(err)
	}
	return New(Options{State: st}), d.ID()
}

func TestApplyRefusesWhatTheRunRefused(t *testing.T) {
	t.Parallel()
	violated := document.GitResult{Refused: []document.Refusal{{Code: "constraint_violated", Description: "no new files: new"}}}
	for name, tc := range map[string]struct {
		link     bool
		plan     plan.Plan
		res      document.Result
		override []string
		open     []string // codes that stand
	}{
		"nothing":                      {res: document.Result{Status: document.StatusSuccess}},
		"a violated constraint":        {res: document.Result{Git: violated}, open: []string{"constraint_violated"}},
		"which is overridden":          {res: document.Result{Git: violated}, override: []string{"constraint_violated"}},
		"all is overridden":            {res: document.Result{Git: violated}, override: []string{OverrideAll}, link: true},
		"another is overridden":        {res: document.Result{Git: violated}, override: []string{"protected_path_modified"}, open: []string{"constraint_violated"}},
		"a result without refusals":    {res: document.Result{Issues: []document.Issue{{Code: "protected_path_modified"}}}, open: []string{"protected_path_modified"}},
		"git refused it":               {res: document.Result{Issues: []document.Issue{{Code: document.CodeLandRefused}}}, open: []string{document.CodeLandRefused}},
		"a secret":                     {res: document.Result{Issues: []document.Issue{{Code: document.CodeSecretInDiff}}}, open: []string{document.CodeSecretInDiff}},
		"a link, by a new inspection":  {link: true, open: []string{"symlink_escapes"}},
		"two reasons, one overridden":  {link: true, res: document.Result{Git: violated}, override: []string{"constraint_violated"}, open: []string{"symlink_escapes"}},
		"died before it was judged":    {plan: plan.Plan{Protected: []string{"x"}}, res: document.Result{Issues: []document.Issue{{Code: document.CodeRunnerLost}}}, open: []string{document.CodeRunnerLost}},
		"died with nothing to judge":   {res: document.Result{Issues: []document.Issue{{Code: document.CodeRunnerLost}}}},
		"died, and was only to look":   {plan: plan.Plan{Agent: &plan.Agent{ReadOnly: true}}, res: document.Result{Issues: []document.Issue{{Code: document.CodeRunnerLost}}}, open: []string{document.CodeRunnerLost}},
		"died, with an unknown check":  {plan: plan.Plan{Constraints: []document.Constraint{{Kind: "later", Params: json.RawMessage(`{"kind":"later"}`)}}}, res: document.Result{Issues: []document.Issue{{Code: document.CodeRunnerLost}}}, open: []string{document.CodeRunnerLost}},
		"a flaw that refuses nothing":  {res: document.Result{Status: document.StatusPartial, Issues: []document.Issue{{Code: "bidi_text"}}}},
		"a note and a refusal, by all": {res: document.Result{Git: violated, Issues: []document.Issue{{Code: "workflow"}}}, override: []string{"all"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gitdifftest.New(t)
			r, id := appliable(t, repo, tc.link, tc.plan, tc.res)
			told := false
			rep, err := r.Apply(t.Context(), id, ApplyOptions{Override: tc.override, Before: func([]document.Refusal, []document.Issue) {
				told = true
				if _, err := os.Lstat(filepath.Join(repo.Dir, "new")); err == nil {
					t.Error("told after the change was written")
				}
			}})
			_, there := os.Lstat(filepath.Join(repo.Dir, "new"))
			if _, err := os.Lstat(filepath.Join(repo.Dir, "out")); err == nil {
				t.Error("a link that leads out was written")
			}
			if tc.open == nil {
				if err != nil || there != nil || told != (tc.res.Status != document.StatusSuccess) || len(rep.LeftOut) == 0 == tc.link {
					t.Errorf("Apply = %+v, %v, told %v", rep, err, told)
				}
				return
			}
			var refused *document.InputError
			if !errors.As(err, &refused) || len(refused.Details) != len(tc.open) || there == nil || told {
				t.Fatalf("Apply = %+v, %v, told %v", rep, err, told)
			}
			for i, code := range tc.open {
				if !strings.HasPrefix(refused.Details[i].Message, code+": ") || !strings.Contains(refused.Hint, "--refused "+strings.Join(tc.open, ",")) {
					t.Errorf("refused with %+v, want %s", refused, code)
				}
			}
		})
	}
}

func openState(t *testing.T) *state.State {
	t.Helper()
	s, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
