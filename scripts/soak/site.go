package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// site is one installation of the program: its state and its configuration.
type site struct {
	program string
	state   string
	config  string
	temp    string // its TMPDIR, which must be empty when nothing runs
	home    string
}

func newSite(program, dir string) (*site, error) {
	s := &site{program: program, state: filepath.Join(dir, "state"), config: filepath.Join(dir, "config.json"),
		temp: filepath.Join(dir, "tmp"), home: filepath.Join(dir, "home")}
	for _, d := range []string{s.temp, s.home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return s, os.WriteFile(s.config, []byte("{}"), 0o600)
}

// env is the whole environment of the program.
func (s *site) env() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.temp, "SANDBOXRUN_STATE_DIR=" + s.state, "SANDBOXRUN_CONFIG=" + s.config}
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		env = append(env, "DOCKER_HOST="+host)
	}
	return env
}

func (s *site) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.program, args...)
	c.Env = s.env()
	return c
}

// withModel is the site with a configuration of its own, for one task.
func (s *site) withModel(url, id string) (*site, error) {
	doc, err := json.Marshal(map[string]any{"providers": map[string]any{
		"anthropic": map[string]any{"base_url": url, "key_env": "SOAK_KEY"},
	}})
	if err != nil {
		return nil, err
	}
	own := *s
	own.config = filepath.Join(filepath.Dir(s.config), id+".json")
	return &own, os.WriteFile(own.config, doc, 0o600)
}

// instance labels everything the site creates on the engine.
func (s *site) instance() (string, error) {
	id, err := os.ReadFile(filepath.Join(s.state, "id"))
	return strings.TrimSpace(string(id)), err
}

// runOf finds the run of a task by its plan, "" where there is none (yet), among live runs only.
func (s *site) runOf(task string) string {
	ids, err := os.ReadDir(filepath.Join(s.state, "active"))
	if err != nil {
		return ""
	}
	for _, id := range ids {
		if s.taskOf(id.Name()) == task {
			return id.Name()
		}
	}
	return ""
}

// taskOf is the task of a run, "" where its plan has none.
func (s *site) taskOf(run string) string {
	var plan struct {
		TaskID string `json:"task_id"`
	}
	data, err := os.ReadFile(filepath.Join(s.state, "runs", run, "plan.json"))
	if err != nil || json.Unmarshal(data, &plan) != nil {
		return ""
	}
	return plan.TaskID
}

// reached reports whether a run has begun a phase.
func (s *site) reached(run, phase string) bool {
	data, err := os.ReadFile(filepath.Join(s.state, "runs", run, "events.ndjson"))
	return err == nil && strings.Contains(string(data), fmt.Sprintf(`"phase":%q,"kind":"phase_started"`, phase))
}

// boxes lists the containers of a run.
func (s *site) boxes(run string) []string {
	id, err := s.instance()
	if err != nil {
		return nil
	}
	out, err := exec.Command("docker", "ps", "-q", "--filter", "label=sandboxrun.owner="+id+"."+run).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
