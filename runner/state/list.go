package state

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
)

// States of a run in addition to its result's status.
const (
	RunRunning = "running"
	RunCrashed = "crashed" // its runner died and it has not been settled yet
)

// RunInfo is a run in a list.
type RunInfo struct {
	RunID     string     `json:"run_id"`
	TaskID    string     `json:"task_id"`
	Status    string     `json:"status"` // the result's, or running or crashed
	Summary   string     `json:"summary"`
	Branch    string     `json:"branch,omitempty"`
	Objective string     `json:"objective,omitempty"`
	RepoRoot  string     `json:"repo_root,omitempty"`
	Agent     string     `json:"agent,omitempty"` // "" in mode command
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// maxResult bounds how much of a stored result is read, in bytes.
const maxResult = 256 << 20

// List returns the newest runs, at most limit of them; 0 means all.
func (s *State) List(limit int) ([]RunInfo, error) {
	return s.ListOf(limit, func(RunInfo) bool { return true })
}

// ListOf is List of those runs that keep is true for.
func (s *State) ListOf(limit int, keep func(RunInfo) bool) ([]RunInfo, error) {
	ids, err := s.RunIDs()
	if err != nil {
		return nil, err
	}
	infos := []RunInfo{}
	for _, id := range ids {
		if limit > 0 && len(infos) == limit {
			break
		}
		info, err := (&RunDir{state: s, id: id}).Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, err
		}
		if keep(info) {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// RunIDs lists the ids of all runs, the newest first.
func (s *State) RunIDs() ([]string, error) {
	ids, err := idsIn(s.runsDir())
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	slices.Reverse(ids)
	return ids, nil
}

// idsIn lists the names in a directory that are ids of runs, the oldest first.
func idsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if ValidRunID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// Info reports the state of the run.
func (d *RunDir) Info() (RunInfo, error) {
	started, err := d.Started()
	if err != nil {
		return RunInfo{}, err
	}
	info := RunInfo{RunID: d.id, TaskID: d.id, StartedAt: started}
	if p, err := d.Plan(); err == nil {
		info.Objective, info.RepoRoot = p.Objective, p.RepoRoot
		info.TaskID = cmp.Or(p.TaskID, d.id)
		if p.Agent != nil {
			info.Agent = p.Agent.Name
		}
	}
	// The lock is checked first: a run that ends in between has a result.
	held, err := locked(d.Path("lock"))
	if err != nil {
		return RunInfo{}, err
	}
	data, err := d.Result()
	if errors.Is(err, fs.ErrNotExist) {
		return d.unended(info, held)
	}
	if err != nil {
		return RunInfo{}, err
	}
	var r struct {
		TaskID  string `json:"task_id"`
		Status  string `json:"status"`
		Summary string `json:"summary"`
		Git     struct {
			Branch string `json:"branch"`
		} `json:"git"`
		EndedAt time.Time `json:"ended_at"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return RunInfo{}, fmt.Errorf("read result of run %s: %w", d.id, err)
	}
	info.TaskID, info.Status, info.Summary = r.TaskID, r.Status, r.Summary
	info.Branch, info.EndedAt = r.Git.Branch, &r.EndedAt
	return info, nil
}

func (d *RunDir) unended(info RunInfo, held bool) (RunInfo, error) {
	if _, err := os.Stat(d.Dir()); err != nil {
		return RunInfo{}, err
	}
	info.Status = RunCrashed
	if held {
		info.Status = RunRunning
	}
	info.Summary = info.Objective
	return info, nil
}

// shortest is the least length of a short id: the first ten characters of an id are its time.
const shortest = 10

// ShortID is the beginning of a run's id that no other run has now.
func (s *State) ShortID(id string) string {
	ids, err := s.RunIDs()
	if err != nil {
		return id
	}
	n := min(shortest, len(id))
	for _, other := range ids {
		for other != id && n < len(id) && strings.HasPrefix(other, id[:n]) {
			n++
		}
	}
	return id[:n]
}

// Newest is the name of the newest run for [State.FindNamed].
const Newest = "last"

// FindNamed returns the run that a person names: by its id or the beginning of it, as the last one, or, the newest of
// them, by its task or its branch. Errors are those of Find.
func (s *State) FindNamed(name string) (*RunDir, error) {
	named := func(info RunInfo) bool {
		return name == Newest || name == info.TaskID || info.Branch != "" && (name == info.Branch || name == "refs/heads/"+info.Branch)
	}
	d, err := s.Find(name)
	if bad := (*document.InputError)(nil); err == nil || !errors.As(err, &bad) || name == "" {
		return d, err
	}
	list, lerr := s.ListOf(1, named)
	if lerr != nil {
		return nil, lerr
	}
	if len(list) == 0 {
		return nil, err
	}
	return &RunDir{state: s, id: list[0].RunID}, nil
}

// Result is the stored result document; fs.ErrNotExist while there is none.
func (d *RunDir) Result() ([]byte, error) {
	data, err := document.ReadSmall(d.ResultPath(), maxResult)
	if err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	return data, nil
}

// Run returns the run of exactly that id, for reading; fs.ErrNotExist where there is none.
func (s *State) Run(id string) (*RunDir, error) {
	if !ValidRunID(id) {
		return nil, &fs.PathError{Op: "find run", Path: excerpt.Clip(id, 64), Err: fs.ErrNotExist}
	}
	if _, err := os.Lstat(s.runDir(id)); err != nil {
		return nil, fmt.Errorf("find run: %w", err)
	}
	return &RunDir{state: s, id: id}, nil
}

// Live reports whether a process works on the run.
func (d *RunDir) Live() (bool, error) { return locked(d.Path("lock")) }

// Find returns the one run whose id begins with prefix, for reading. Errors are *InputError, or failures of reading.
func (s *State) Find(prefix string) (*RunDir, error) {
	prefix = strings.ToLower(prefix)
	ids, err := s.RunIDs()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, id := range ids {
		if prefix != "" && strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return nil, &document.InputError{Message: fmt.Sprintf("no run is called %q", excerpt.Clip(prefix, 64)), Hint: `"sandboxrun runs list" shows them`}
	case 1:
		return &RunDir{state: s, id: found[0]}, nil
	}
	return nil, &document.InputError{
		Message: fmt.Sprintf("%d runs begin with %q, among them %s", len(found), excerpt.Clip(prefix, 64), strings.Join(found[:min(5, len(found))], ", ")),
		Hint:    "give more of the id",
	}
}

// Remove removes an ended run with everything in it. It refuses a live run, and a crashed one before it is settled:
// its boxes would never be removed.
func (s *State) Remove(d *RunDir) error {
	lock, err := takeLock(d.Path("lock"))
	if errors.Is(err, errLocked) {
		return &document.InputError{Message: fmt.Sprintf("run %s is running", d.id), Hint: "stop it first"}
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(s.marker(d.id)); err == nil {
		return errors.Join(lock.Close(), &document.InputError{
			Message: fmt.Sprintf("run %s crashed and has not been settled", d.id), Hint: `run "sandboxrun reap" first`,
		})
	}
	// Renamed first, so that no reader sees half of it.
	gone := filepath.Join(s.runsDir(), gonePrefix+d.id)
	err = os.Rename(d.Dir(), gone)
	if err == nil {
		err = os.RemoveAll(gone)
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return fmt.Errorf("remove run %s: %w", d.id, err)
	}
	return nil
}
