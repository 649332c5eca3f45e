package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

type bench struct {
	bin, image, dir string
	rounds          int
	progress        io.Writer
}

// edit is the work of every contender: one file changed, one added, one deleted.
const edit = `echo "// edited" >> pkg/000/000/f000000.go && echo new > added.txt && rm pkg/000/000/f000001.go`

// script is the usual alternative: a worktree, a container, a diff.
const script = `set -e
wt="$2/wt-$$"
git -C "$1" worktree add -q --detach "$wt"
docker run --rm --network none -v "$wt:/workspace" -w /workspace "$3" sh -c "$4"
git -C "$wt" add -A
git -C "$wt" diff --cached --stat > /dev/null
git -C "$1" worktree remove --force "$wt"
`

func (b *bench) dockerRun() *exec.Cmd {
	return exec.Command("docker", "run", "--rm", "--network", "none", b.image, "true")
}

func (b *bench) shell(repo string) *exec.Cmd {
	c := exec.Command("sh", "-c", script, "sh", repo, b.dir, b.image, edit)
	c.Env = hermetic()
	return c
}

// execute is a whole run: tree, box, edit, capture, landing, removal.
func (b *bench) execute(state, task string) *exec.Cmd {
	c := exec.Command(b.bin, "execute", "--quiet", task)
	c.Env = append(hermetic(), "SANDBOXRUN_STATE_DIR="+state, "SANDBOXRUN_CONFIG="+filepath.Join(b.dir, "config.json"))
	return c
}

// writeTask writes a task over a repository of n files whose verification has so many commands.
func (b *bench) writeTask(repo string, n, commands int) (string, error) {
	if err := os.WriteFile(filepath.Join(b.dir, "config.json"), []byte("{}"), 0o600); err != nil {
		return "", err
	}
	doc := map[string]any{
		"objective":          fmt.Sprintf("Edit, add and delete a file among %d.", n),
		"context":            map[string]any{"repo_root": repo},
		"execution_mode":     "command",
		"suggested_commands": []string{edit},
		"box":                map[string]any{"image": b.image},
	}
	criteria := []any{}
	for i := range commands {
		criteria = append(criteria, map[string]any{"command": fmt.Sprintf("true %d", i)}) // equal ones would run once
	}
	if commands > 0 {
		doc["acceptance_criteria"] = criteria
	}
	task, err := json.Marshal(doc)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, fmt.Sprintf("task-%d-%d.json", n, commands))
	return path, os.WriteFile(path, task, 0o600)
}

// timing reads the phase times of a result document and checks that the run
// did what it was timed for.
func timing(doc []byte) (map[string]int64, error) {
	var r struct {
		Status string           `json:"status"`
		Files  []any            `json:"files_changed"`
		Timing map[string]int64 `json:"timing"`
	}
	if err := json.Unmarshal(doc, &r); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	if r.Status != "success" || len(r.Files) != 3 {
		return nil, fmt.Errorf("result: %s with %d files changed, not success with 3", r.Status, len(r.Files))
	}
	return r.Timing, nil
}
