// Package state manages the state directory: runs, sessions, slots and the journals of steps, with the locks that show
// which processes live.
package state

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/oklog/ulid/v2"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

// State is the directory of runs: one directory for each, the pristine checkouts that they share, and the identity of
// the directory itself. It is private to its owner. It is safe for concurrent use, also by several processes.
type State struct {
	dir string
	id  string
}

// Open opens or creates a state directory. It removes access by others, and upgrades a directory of an earlier
// version. It refuses a directory of another user, and one of a later version, as an *InputError.
func Open(dir string) (*State, error) {
	s := &State{dir: dir}
	format, err := s.checkFormat() // first: the directory of a later version stays untouched
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open state directory: %w", err)
	}
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	if format < stateFormat {
		if err := s.upgrade(); err != nil {
			return nil, err
		}
	}
	for _, d := range []string{s.runsDir(), s.activeDir(), s.workDir()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("open state directory: %w", err)
		}
	}
	if s.id, err = readOrMakeID(filepath.Join(dir, "id")); err != nil {
		return nil, fmt.Errorf("open state directory: %w", err)
	}
	return s, nil
}

func makePrivate(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("open state directory: %w", err)
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return &document.InputError{
			Message: fmt.Sprintf("the state directory %s belongs to another user", dir),
			Hint:    "name another directory in " + config.EnvStateDir,
		}
	}
	if fi.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("open state directory: %w", err)
	}
	return nil
}

// readOrMakeID reads the identity of the directory, and creates it the first time. Of several processes that do so at
// once, the first to link its file decides.
func readOrMakeID(path string) (string, error) {
	if id, err := readID(path); !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	raw := make([]byte, 4)
	_, _ = rand.Read(raw) // never fails: crypto/rand aborts the program instead
	tmp := path + "." + hex.EncodeToString(raw)
	if err := os.WriteFile(tmp, []byte(hex.EncodeToString(raw)+"\n"), 0o600); err != nil {
		return "", err
	}
	err := os.Link(tmp, path)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err := errors.Join(err, os.Remove(tmp)); err != nil {
		return "", err
	}
	return readID(path)
}

func readID(path string) (string, error) {
	data, err := document.ReadSmall(path, 64)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(data))
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 4 {
		return "", &fs.PathError{Op: "read", Path: path, Err: errors.New("is damaged; remove it when no run is active")}
	}
	return id, nil
}

// Dir is the directory itself.
func (s *State) Dir() string { return s.dir }

func (s *State) runsDir() string   { return filepath.Join(s.dir, "runs") }
func (s *State) activeDir() string { return filepath.Join(s.dir, "active") }

// workDir holds the throwaway trees of live runs, apart from what runs keep.
func (s *State) workDir() string { return filepath.Join(s.dir, "work") }

func (s *State) runDir(id string) string { return filepath.Join(s.runsDir(), id) }

// marker is a file that exists while a run does: without it, finding crashed runs would need reading every run.
func (s *State) marker(id string) string { return filepath.Join(s.activeDir(), id) }

// TreesDir holds the pristine checkouts that runs share.
func (s *State) TreesDir() string { return filepath.Join(s.dir, "bases") }

// ProgramsDir holds the programs that live runs were started from.
func (s *State) ProgramsDir() string { return filepath.Join(s.dir, "programs") }

// TreeDir is the path of one throwaway tree of a run.
func (s *State) TreeDir(id, role string) string {
	return filepath.Join(s.workDir(), id, role)
}

// RemoveTrees removes every throwaway tree of a run. No box may still use one.
func (s *State) RemoveTrees(id string) error {
	if err := workspace.Remove(gitdiff.NewStore(s.TreesDir()), filepath.Join(s.workDir(), id)); err != nil {
		return fmt.Errorf("remove trees of run %s: %w", id, err)
	}
	return nil
}

// Instance is the identity of this state directory.
func (s *State) Instance() string { return s.id }

// Owner is the name of a run for the engine. It contains the identity of the state directory, because runners with
// different ones may share an engine.
func (s *State) Owner(id string) string { return s.id + "." + id }

// Alive reports whether the owner's boxes and volumes are still in use. Owners of other state directories, and cases
// that cannot be decided, count as in use.
func (s *State) Alive(owner string) bool {
	id, ours := strings.CutPrefix(owner, s.id+".")
	if !ours || !ValidRunID(id) {
		return true
	}
	held, err := locked(filepath.Join(s.runDir(id), "lock"))
	return held || err != nil
}

// escapeGlob makes a path match only itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// unmark removes the marker of a run that needs no settling.
func (s *State) unmark(id string) error {
	if err := os.Remove(s.marker(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unmark run: %w", err)
	}
	return nil
}

// ValidRunID reports whether a name is an id. It prevents foreign names from becoming paths.
func ValidRunID(id string) bool {
	_, err := ulid.ParseStrict(strings.ToUpper(id))
	return err == nil && id == strings.ToLower(id)
}

// KeyDir is the directory of the key that signs results, see package attest.
func (s *State) KeyDir() string { return filepath.Join(s.dir, "signing") }
