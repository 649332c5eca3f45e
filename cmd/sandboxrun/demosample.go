package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sandboxrun/agents/agentstest/demo"
	"sandboxrun/runner"
)

// sample is the demo's directory.
type sample struct{ dir, repo, task, result string }

func newSample(ctx context.Context, dir string) (*sample, error) {
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
		return nil, &runner.InputError{Message: dir + " is not empty", Hint: "name a new directory with --dir, or none"}
	}
	s := &sample{dir: dir, repo: filepath.Join(dir, "repo"), task: filepath.Join(dir, "task.json"), result: filepath.Join(dir, "result.json")}
	if err := makeSampleRepository(ctx, s.repo, demo.Files()); err != nil {
		return nil, err
	}
	return s, s.writeTask()
}

// writeTask writes the task as a caller would.
func (s *sample) writeTask() error {
	b, err := runner.EncodeDocument(map[string]any{
		"objective":           demo.Objective,
		"instructions":        demo.Instructions,
		"context":             map[string]any{"repo_root": s.repo, "files_of_interest": []string{"src/total.sh", "test.sh"}},
		"constraints":         []any{map[string]any{"kind": "paths_allowed", "paths": []string{"src/**", "CHANGELOG.md", "BUGS.md"}}},
		"acceptance_criteria": []any{map[string]any{"command": demo.Acceptance, "expect_exit": 0}},
		"protected_paths":     []string{"test.sh"},
		"baseline":            true,
		"max_runtime_seconds": 600,
	})
	if err != nil {
		return fmt.Errorf("encode demo task: %w", err)
	}
	if err := os.WriteFile(s.task, b, 0o644); err != nil {
		return fmt.Errorf("write demo task: %w", err)
	}
	return nil
}

func (s *sample) plan(cfg runner.Config, runtime string) (*runner.Plan, error) {
	data, err := os.ReadFile(s.task)
	if err != nil {
		return nil, fmt.Errorf("read demo task: %w", err)
	}
	task, err := runner.Decode(data)
	if err != nil {
		return nil, err
	}
	return runner.Compile(task, cfg, runner.Overrides{Runtime: runtime})
}

// keep writes the result next to the task.
func (s *sample) keep(res *runner.Result) error {
	b, err := runner.EncodeDocument(res)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return writeOutput(s.result, b)
}
