package attack

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Secret is the content of the file that no box may see and no result may hold.
const Secret = "the-secret-of-the-host-outside"

// Host is what an attack may prepare and what it aims at. All of it is temporary.
type Host struct {
	Canary string   // directory of the canaries; see Attack, PWN
	Out    string   // see Attack, OUT
	Home   string   // HOME of the program and of git on the naive host
	Repo   string   // the user's repository
	State  string   // state directory of the program
	Port   string   // see Attack
	Addrs  []string // see Attack
	Env    []string // more environment of the program and of git on the naive host
	Flags  []string // more flags of execute
	// Config is the program's configuration.
	Config map[string]any
	// Meanwhile runs beside the run, from its start until the context ends.
	Meanwhile func(ctx context.Context)
}

// Write writes a file of the host, making its directories.
func (h *Host) Write(name, content string, mode os.FileMode) error { return write(name, content, mode) }

// write writes a file with exactly this mode, making its directories.
func write(name, content string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}

// userCommits is a user who commits to their branch while a run is at work.
func (h *Host) userCommits(ctx context.Context) {
	late := time.NewTimer(time.Second) // the naive host has no state directory to watch
	defer late.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return
		case <-late.C:
			waiting = false
		case <-tick.C:
			runs, _ := filepath.Glob(filepath.Join(h.State, "active", "*"))
			waiting = len(runs) == 0
		}
	}
	if write(filepath.Join(h.Repo, "users.txt"), "the user's\n", 0o644) == nil {
		_, _ = git(ctx, h.Repo, "add", "users.txt") // what did not happen cannot be mistaken for the box's
		_, _ = git(ctx, h.Repo, "commit", "-q", "-m", "the user's own")
	}
}

// tagged gives the user's repository a branch and a tag of its own.
func (h *Host) tagged(ctx context.Context) error {
	if _, err := git(ctx, h.Repo, "branch", "keep"); err != nil {
		return err
	}
	_, err := git(ctx, h.Repo, "tag", "v1")
	return err
}
