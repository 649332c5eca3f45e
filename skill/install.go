package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// State is what an installed file is, compared with the one of this program.
type State string

// States of a file.
const (
	Current State = "current" // as this program has it
	Older   State = "older"   // as another version of this program wrote it
	Changed State = "changed" // by a person, or it is none of this program's
	Missing State = "missing"
)

// Entry is one file of an installation.
type Entry struct {
	Path  string `json:"path"`
	State State  `json:"state"`
}

// recordName is the file that says what was installed: SHA-256 sums by path.
const recordName = ".sandboxrun-skill.json"

type record struct {
	Version string            `json:"version"`
	Files   map[string]string `json:"files"`
}

// ChangedError says that files were changed by hand. Nothing was written or removed.
type ChangedError struct{ Paths []string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%d files were changed by hand or are not of this program: %q", len(e.Paths), e.Paths)
}

// Target is a place for an installation. No file outside of Root is touched, whatever links are in it.
type Target struct {
	Root    *os.Root
	Record  string // directory of the record, relative to the root, "." for the root
	Version string // of this program
}

// maxInstalled bounds a file that is compared or kept for the way back, in bytes.
const maxInstalled = 1 << 20

// Check compares what is installed with the files of this program. Files of an older version that this one has no more are
// listed, too. installed is the version that wrote them, "" for none.
func (t Target) Check(want []File) (entries []Entry, installed string, err error) {
	r, err := t.record()
	if err != nil {
		return nil, "", err
	}
	for _, f := range want {
		s, err := t.state(f.Path, sum(f.Data), r.Files[f.Path])
		if err != nil {
			return nil, "", err
		}
		entries = append(entries, Entry{f.Path, s})
	}
	for p, was := range r.Files {
		// A record may come with a strange repository: only directories of the installation itself are looked at.
		beside := slices.ContainsFunc(want, func(f File) bool { return path.Dir(f.Path) == path.Dir(p) && path.Dir(p) != "." })
		if !beside || !fs.ValidPath(p) || slices.ContainsFunc(want, func(f File) bool { return f.Path == p }) {
			continue
		}
		s, err := t.state(p, "", was)
		if err != nil {
			return nil, "", err
		}
		if s != Missing {
			entries = append(entries, Entry{p, s})
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return entries, r.Version, nil
}

func (t Target) state(p, now, was string) (State, error) {
	data, err := t.read(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil
	case errors.Is(err, errForeign):
		return Changed, nil
	case err != nil:
		return "", err
	}
	switch sum(data) {
	case now:
		return Current, nil
	case was:
		return Older, nil
	}
	return Changed, nil
}

// errForeign is what is no file this program wrote.
var errForeign = errors.New("not a small regular file")

func (t Target) read(p string) ([]byte, error) {
	fi, err := t.Root.Lstat(p)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxInstalled {
		return nil, errForeign
	}
	f, err := t.Root.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxInstalled))
}

func (t Target) record() (r record, err error) {
	data, err := t.read(path.Join(t.Record, recordName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errForeign) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("read what is installed: %w", err)
	}
	if json.Unmarshal(data, &r) != nil {
		return record{}, nil //nolint:nilerr // damaged: files that this program does not know as its own count as changed
	}
	return r, nil
}

// Install writes every file, or none. Files changed by hand are an error of *ChangedError, unless force is set. Other files
// in the same directories stay.
func (t Target) Install(want []File, force bool) error {
	entries, _, err := t.Check(want)
	if err != nil {
		return err
	}
	if changed := pathsOf(entries, Changed); len(changed) > 0 && !force {
		return &ChangedError{changed}
	}
	r := record{Version: t.Version, Files: map[string]string{}}
	for _, f := range want {
		r.Files[f.Path] = sum(f.Data)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	// The record is written first: files that a crash leaves behind are then known as this program's.
	all := append([]File{{path.Join(t.Record, recordName), append(text, '\n')}}, want...)
	c := &change{root: t.Root}
	for _, f := range all {
		if err := c.stage(f); err != nil {
			return errors.Join(fmt.Errorf("install: %w", err), c.undo())
		}
	}
	if err := c.commit(); err != nil {
		return errors.Join(fmt.Errorf("install: %w", err), c.undo())
	}
	for _, e := range entries { // of an older version, and in this one no more
		if !slices.ContainsFunc(want, func(f File) bool { return f.Path == e.Path }) && e.State == Older {
			err = errors.Join(err, t.Root.Remove(e.Path))
		}
	}
	return err
}

// Remove removes the installed files and the directories that are empty then.
func (t Target) Remove(want []File, force bool) error {
	entries, _, err := t.Check(want)
	if err != nil {
		return err
	}
	if changed := pathsOf(entries, Changed); len(changed) > 0 && !force {
		return &ChangedError{changed}
	}
	dirs := map[string]bool{}
	remove := func(p string) error {
		for d := path.Dir(p); d != "." && d != "/"; d = path.Dir(d) {
			dirs[d] = true
		}
		if err := t.Root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove: %w", err)
		}
		return nil
	}
	for _, e := range entries {
		if e.State != Missing {
			err = errors.Join(err, remove(e.Path))
		}
	}
	if err != nil {
		return err
	}
	if err := remove(path.Join(t.Record, recordName)); err != nil {
		return err
	}
	list := slices.Collect(func(yield func(string) bool) {
		for d := range dirs {
			if !yield(d) {
				return
			}
		}
	})
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) }) // inner ones first
	for _, d := range list {
		_ = t.Root.Remove(d) // one that is not empty stays
	}
	return nil
}

func pathsOf(entries []Entry, s State) []string {
	var list []string
	for _, e := range entries {
		if e.State == s {
			list = append(list, e.Path)
		}
	}
	return list
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
