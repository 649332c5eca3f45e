package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/schemas/closed"
)

func TestTheTierOfABoxIsInItsResult(t *testing.T) {
	t.Parallel()
	for runtime, want := range map[string]string{"runc": "runc", "runsc": "runsc"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			testenv.Runtime(t, runtime)
			rig, repo := newRig(t), newRepo(t, sample)
			res, o := rig.execute(repo.task("echo x > x"), "--runtime", runtime, "--require-tier", want)
			if o.exit != 0 || res.Box == nil || res.Box.Tier != want {
				t.Errorf("exit %d, box %+v, want tier %s", o.exit, res.Box, want)
			}
		})
	}
}

func TestARunBelowTheRequiredTierIsRefusedBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	testenv.Runtime(t, "runc")
	repo := newRepo(t, sample)
	before := fingerprint(t, repo.dir)
	for name, set := range map[string]func(r *rig, task map[string]any) []string{
		"by the flag": func(*rig, map[string]any) []string { return []string{"--require-tier", "runsc"} },
		"by the task": func(_ *rig, task map[string]any) []string {
			task["box"] = map[string]any{"require_tier": "runsc"}
			return nil
		},
		"by the configuration, whatever the task says": func(r *rig, task map[string]any) []string {
			r.config["box"] = map[string]any{"require_tier": "runsc"}
			task["box"] = map[string]any{"require_tier": "runc"}
			return []string{"--require-tier", "runc"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, task := newRig(t), repo.task("echo x > x")
			flags := append([]string{"execute", "--runtime", "runc"}, set(rig, task)...)
			o := rig.run(marshal(t, task), append(flags, "-")...)
			var doc refusal
			if err := json.Unmarshal(o.stdout, &doc); err != nil {
				t.Fatalf("exit %d: %v\n%s", o.exit, err, o.stdout)
			}
			if err := closed.Validate("error", o.stdout); err != nil {
				t.Error(err)
			}
			if o.exit != document.ExitInput || doc.Error.Type != "invalid_input" || !strings.Contains(doc.Error.Message, "tier runc") ||
				!strings.Contains(doc.Error.Message, "tier runsc is required") || doc.Error.Hint == "" {
				t.Errorf("exit %d: %+v", o.exit, doc.Error)
			}
			if runs, err := os.ReadDir(filepath.Join(rig.state, "runs")); err == nil && len(runs) != 0 {
				t.Errorf("%d runs were made", len(runs))
			}
		})
	}
	t.Cleanup(func() {
		if after := fingerprint(t, repo.dir); len(after) != len(before) {
			t.Errorf("the repository has %d files, had %d", len(after), len(before))
		}
	})
}

func TestAPlanNamesTheRequiredTier(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	o := rig.run(marshal(t, repo.task("true")), "plan", "--require-tier", "userns", "-")
	var plan plan.Plan
	if err := json.Unmarshal(o.stdout, &plan); err != nil || o.exit != 0 || plan.Box.RequireTier != "userns" {
		t.Errorf("exit %d, %v: %+v", o.exit, err, plan.Box)
	}
}
