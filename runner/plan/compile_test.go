package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func decodeFile(t *testing.T, name string) *document.Task {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tasks", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := document.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// golden compares got with a file of testdata/golden, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), update with go test -run %s -update:\n%s", name, t.Name(), diff)
	}
}

func TestPlansMatchGoldenFiles(t *testing.T) {
	config := config.Default()
	config.Box.Network.Allow = []string{"mirror.example", "proxy.example.com"}
	tests := []struct {
		name, task string
		overrides  Overrides
	}{
		{"small", "small", Overrides{}},
		{"code", "code", Overrides{}},
		{"command", "command", Overrides{}},
		{"full", "full", Overrides{}},
		{"flags", "full", Overrides{
			Agent: "claude", Model: "sonnet", Base: "v1.2", Land: document.LandBranch, Runtime: "runc",
			AllowHosts: []string{"cdn.example"}, Approve: document.ApproveDeny,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			task := decodeFile(t, tt.task)
			before := *task
			plan, err := Compile(task, config, tt.overrides)
			if err != nil {
				t.Fatal(err)
			}
			got, err := document.Encode(plan)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name+".plan.json", got)
			if err := closed.Validate("plan", got); err != nil {
				t.Error(err)
			}
			if !reflect.DeepEqual(before, *task) {
				t.Error("Compile changed the task")
			}
			var back Plan
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			again, err := document.Encode(&back)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, again) {
				t.Errorf("a plan read back differs:\n%s", cmp.Diff(string(got), string(again)))
			}
			if plan.Agent != nil {
				golden(t, tt.name+".prompt.md", []byte(plan.Agent.Prompt))
			}
		})
	}
}

func TestCompileIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	task := decodeFile(t, "full")
	first, err := Compile(task, config.Default(), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		next, err := Compile(task, config.Default(), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, next); diff != "" {
			t.Fatalf("plans differ:\n%s", diff)
		}
	}
}

func TestACommandIsVerifiedOnce(t *testing.T) {
	t.Parallel()
	task := decodeFile(t, "code")
	plan, err := Compile(task, config.Default(), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	want := []VerifyCommand{
		{Command: "go vet ./...", Criteria: []int{}},
		{Command: "go test ./...", Criteria: []int{0, 1}},
	}
	if diff := cmp.Diff(want, plan.Verify); diff != "" {
		t.Errorf("verify (-want +got):\n%s", diff)
	}
}

func TestAnotherAgentInheritsNothing(t *testing.T) {
	t.Parallel()
	task := decodeFile(t, "small")
	task.Agent = &document.AgentChoice{Name: "CLAUDE_CODE", Model: "opus"}
	plan, err := Compile(task, config.Default(), Overrides{Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Agent.Name != "claude" || plan.Agent.Model != "opus" {
		t.Errorf("the same agent by its other name lost its model: %+v", plan.Agent)
	}
	task.Agent.Name = "somebody"
	if plan, err = Compile(task, config.Default(), Overrides{Agent: "claude"}); err != nil {
		t.Fatal(err)
	}
	if plan.Agent.Model != "" {
		t.Errorf("another agent took over model %q", plan.Agent.Model)
	}
}

func TestBadFlagsAreListedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Compile(decodeFile(t, "small"), config.Default(), Overrides{
		Agent: "nobody", Variant: "plan", Model: "-x", Base: "--all", Session: "../s", Land: "push",
		Runtime: "../runc", AllowHosts: []string{"http://x"}, Approve: "maybe",
	})
	var text strings.Builder
	for _, d := range detailsOf(t, err) {
		text.WriteString(d.Message + "\n")
	}
	for _, flag := range []string{"--agent", "--variant", "--model", "--base", "--session", "--land", "--runtime", "--allow-host", "--approve"} {
		if !strings.Contains(text.String(), flag+" ") {
			t.Errorf("%s is not reported in:\n%s", flag, text.String())
		}
	}
}

func TestAnUnknownVariantListsTheKnownOnes(t *testing.T) {
	t.Parallel()
	_, err := Compile(decodeFile(t, "code"), config.Default(), Overrides{Agent: "claude", Variant: "NOBODY"})
	details := detailsOf(t, err)
	if len(details) != 1 || details[0].Path != "/agent/variant" || !strings.Contains(details[0].Message, "(there are: DEFAULT, PLAN, ROUTER, SUPERVISED)") {
		t.Errorf("details = %+v", details)
	}
}

func TestAReadOnlyVariantHasNoPlaceForCommandsThatChange(t *testing.T) {
	t.Parallel()
	task := decodeFile(t, "code")
	task.ExecutionMode, task.SuggestedCommands = document.ModeMixed, []string{"make"}
	_, err := Compile(task, config.Default(), Overrides{Variant: config.VariantPlan})
	if details := detailsOf(t, err); len(details) != 1 || details[0].Path != "/execution_mode" {
		t.Errorf("details = %+v", details)
	}
}

func detailsOf(t *testing.T, err error) []document.Detail {
	t.Helper()
	bad, ok := errors.AsType[*document.InputError](err)
	if !ok || bad.Message == "" || len(bad.Details) == 0 {
		t.Fatalf("error = %v (%T), want an InputError with a message and details", err, err)
	}
	return bad.Details
}
