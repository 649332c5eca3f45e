package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// assertNothingLeft fails for leftovers of a finished run: containers, volumes, mounts and trees of this rig's state
// directory.
func (r *rig) assertNothingLeft() {
	r.t.Helper()
	id, err := os.ReadFile(filepath.Join(r.state, "id"))
	if err != nil {
		if !os.IsNotExist(err) {
			r.t.Errorf("read the state's id: %v", err)
		}
		return // nothing was ever run
	}
	left, err := leftWithEngine(strings.TrimSpace(string(id)))
	if err != nil {
		r.t.Error(err)
	}
	for _, line := range left {
		r.t.Errorf("left behind (docker %s)", line)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		r.t.Error(err)
	}
	for line := range strings.SplitSeq(string(mounts), "\n") {
		if strings.Contains(line, r.state) && !strings.HasPrefix(line, "tmpfs "+r.state+" ") {
			r.t.Errorf("left mounted: %s", line)
		}
	}
	for _, dir := range []string{"work", "active", "programs"} {
		entries, err := os.ReadDir(filepath.Join(r.state, dir))
		if err != nil && !os.IsNotExist(err) {
			r.t.Error(err)
		}
		for _, e := range entries {
			r.t.Errorf("left in the state directory: %s/%s", dir, e.Name())
		}
	}
}

// leftWithEngine lists the containers, volumes and networks whose name or labels contain the id of a state directory.
func leftWithEngine(id string) ([]string, error) {
	var left []string
	var failed error
	for _, list := range [][]string{
		{"ps", "-a", "--no-trunc", "--format", "{{.Names}} {{.Labels}}"},
		{"volume", "ls", "--format", "{{.Name}} {{.Labels}}"},
		{"network", "ls", "--format", "{{.Name}} {{.Labels}}"},
	} {
		out, err := exec.Command("docker", list...).Output()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("docker %v: %w", list, err))
		}
		for line := range strings.SplitSeq(string(out), "\n") {
			if strings.Contains(line, id) {
				left = append(left, list[0]+": "+line)
			}
		}
	}
	return left, failed
}
