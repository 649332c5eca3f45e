package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	job "sandboxrun/agents/scripted/demo"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

// Sample is the demo's directory: paths of the repository, the task and the
// result in it.
type Sample struct{ dir, Repo, Task, Result string }

// NewSample makes the repository and the task in dir, which must be new or empty,
// or for "" in a new directory for temporary files.
func NewSample(ctx context.Context, dir string) (*Sample, error) {
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "sandboxrun-demo-")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("make demo directory: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("make demo directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("make demo directory: %w", err)
	}
	if len(entries) > 0 {
		return nil, &document.InputError{Message: dir + " is not empty", Hint: "name a new directory with --dir, or omit it"}
	}
	s := &Sample{dir: dir, Repo: filepath.Join(dir, "repo"), Task: filepath.Join(dir, "task.json"), Result: filepath.Join(dir, "result.json")}
	if err := MakeRepository(ctx, s.Repo, job.Files()); err != nil {
		return nil, err
	}
	return s, s.writeTask()
}

// writeTask writes the task as a caller would.
func (s *Sample) writeTask() error {
	b, err := document.Encode(map[string]any{
		"objective":           job.Objective,
		"instructions":        job.Instructions,
		"context":             map[string]any{"repo_root": s.Repo, "files_of_interest": []string{"src/total.sh", "test.sh"}},
		"constraints":         []any{map[string]any{"kind": "paths_allowed", "paths": []string{"src/**", "CHANGELOG.md", "BUGS.md"}}},
		"acceptance_criteria": []any{map[string]any{"command": job.Acceptance, "expect_exit": 0}},
		"protected_paths":     []string{"test.sh"},
		"baseline":            true,
		"max_runtime_seconds": 600,
	})
	if err != nil {
		return fmt.Errorf("encode demo task: %w", err)
	}
	if err := os.WriteFile(s.Task, b, 0o644); err != nil {
		return fmt.Errorf("write demo task: %w", err)
	}
	return nil
}

// Plan compiles the task; runtime is the OCI runtime of the box, "" for the
// configured one.
func (s *Sample) Plan(cfg config.Config, runtime string) (*plan.Plan, error) {
	data, err := os.ReadFile(s.Task)
	if err != nil {
		return nil, fmt.Errorf("read demo task: %w", err)
	}
	task, err := document.Decode(data)
	if err != nil {
		return nil, err
	}
	return plan.Compile(task, cfg, plan.Overrides{Runtime: runtime})
}

// Keep writes the result next to the task.
func (s *Sample) Keep(res *document.Result) error {
	b, err := document.Encode(res)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if err := renameio.WriteFile(s.Result, b, 0o600); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
