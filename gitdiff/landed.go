package gitdiff

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// landingSubject names a landing in a journal of steps.
func landingSubject(commit, branch string) string { return commit + " " + branch }

// LandingOf reads the commit and the branch from the subject of a step of a landing. It is not ok for another text.
func LandingOf(subject string) (commit, branch string, ok bool) {
	commit, branch, ok = strings.Cut(subject, " ")
	if _, err := parseID(commit); err != nil || !ok || validBranch(branch) != nil {
		return "", "", false
	}
	return commit, branch, true
}

// lockDraft is the pattern of files that become the lock of a branch. To git they are locks, too, of branches nobody has.
func lockDraft(name, commit string) string { return name + "." + commit + "-*.lock" }

// Landed says whether the branch points to the commit of a landing whose runner died. What the landing left half-made is
// removed first: unfinished objects, their mark, and the lock of the branch. A commit is of one run only, and so is what carries its
// id; files of anybody else are left alone.
func (r *Repo) Landed(commit, branch string) (bool, error) {
	if _, _, ok := LandingOf(landingSubject(commit, branch)); !ok {
		return false, fmt.Errorf("landing of %q on %q: %w", clip(commit, 64), clip(branch, 200), plumbing.ErrInvalidReferenceName)
	}
	if err := r.clearLanding(commit, filepath.Join(r.commonDir, branch)); err != nil {
		return false, fmt.Errorf("clear unfinished landing: %w", err)
	}
	id, err := r.reference(branch)
	if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return false, err
	}
	landed := err == nil && id.String() == commit
	if err := r.clearPack(commit); err != nil {
		return landed, fmt.Errorf("clear objects of an unfinished landing: %w", err)
	}
	return landed, nil
}

func (r *Repo) clearLanding(commit, path string) error {
	halves, err := filepath.Glob(lockDraft(globQuote(path), commit))
	if err != nil {
		return err
	}
	if says, err := readSmall(path+".lock", 256); err == nil && bytes.Equal(says, []byte(commit+"\n")) {
		halves = append(halves, path+".lock")
	}
	for _, half := range halves {
		if rerr := os.Remove(half); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
