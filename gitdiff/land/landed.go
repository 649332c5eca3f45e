package land

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
)

// landingSubject names a landing in a journal of steps.
func landingSubject(commit, branch string) string { return commit + " " + branch }

// LandingOf reads the commit and the branch from the subject of a step of a landing. It is not ok for another text.
func LandingOf(subject string) (commit, branch string, ok bool) {
	commit, branch, ok = strings.Cut(subject, " ")
	if _, err := gitobj.ParseID(commit); err != nil || !ok || validBranch(branch) != nil {
		return "", "", false
	}
	return commit, branch, true
}

// lockDraft is the pattern of files that become the lock of a branch. Git takes them for locks of branches that do not exist.
func lockDraft(name, commit string) string { return name + "." + commit + "-*.lock" }

// Landed reports whether the branch points to the commit of a landing whose runner died. What the landing left unfinished is
// removed first: unfinished objects, their mark, and the lock of the branch. A commit is of one run only, and so is what carries its
// id; other files are left alone.
func Landed(r *gitdiff.Repo, commit, branch string) (bool, error) {
	if _, _, ok := LandingOf(landingSubject(commit, branch)); !ok {
		return false, fmt.Errorf("landing of %q on %q: %w", gitname.Clip(commit, 64), gitname.Clip(branch, 200), plumbing.ErrInvalidReferenceName)
	}
	for _, dir := range []string{path.Dir(branch), packPath} {
		if err := gitfile.Dirs(r.CommonDir(), dir); err != nil {
			return false, fmt.Errorf("clear unfinished landing: %w", err)
		}
	}
	if err := clearLanding(commit, filepath.Join(r.CommonDir(), branch)); err != nil {
		return false, fmt.Errorf("clear unfinished landing: %w", err)
	}
	id, err := r.Reference(branch)
	if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return false, err
	}
	landed := err == nil && id.String() == commit
	if err := clearPack(r, commit); err != nil {
		return landed, fmt.Errorf("clear objects of an unfinished landing: %w", err)
	}
	return landed, nil
}

func clearLanding(commit, ref string) error {
	halves, err := filepath.Glob(lockDraft(gitfile.QuoteGlob(ref), commit))
	if err != nil {
		return err
	}
	if text, err := gitfile.ReadIn(filepath.Dir(ref), filepath.Base(ref)+".lock", 256); err == nil && bytes.Equal(text, []byte(commit+"\n")) {
		halves = append(halves, ref+".lock")
	}
	for _, half := range halves {
		if rerr := os.Remove(half); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
