package land

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/gitname"

	"github.com/go-git/go-git/v5/plumbing"
)

// BranchPrefix begins the full name of every reference this program makes.
const BranchPrefix = "refs/heads/sandboxrun/"

// Why a branch cannot be made.
var (
	// ErrRefExists is returned when a branch of that name exists already; it is never moved.
	ErrRefExists = errors.New("branch exists already")
	// ErrRefLocked is returned when another git process holds the lock of the branch, or left it behind when it died.
	ErrRefLocked = errors.New("branch is locked")
)

// ConflictError is returned when a branch cannot exist next to another one: git keeps branches as files, and one of the two
// names would have to be a file and a directory.
type ConflictError struct{ Ref, With string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("branch %s cannot be created next to %s", e.Ref, e.With)
}

var (
	plainID  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	notPlain = regexp.MustCompile(`[^a-z0-9]+`)
)

// BranchName is the full reference name for a task or run id: [BranchPrefix] and the id itself where it makes a safe name,
// otherwise what is plain of it and a digest that keeps different ids apart. The error is for an empty id.
func BranchName(id string) (string, error) {
	if id == "" {
		return "", errors.New("branch name: empty id")
	}
	name := BranchPrefix + id
	if plainID.MatchString(id) && plumbing.ReferenceName(name).Validate() == nil {
		return name, nil
	}
	sum := sha256.Sum256([]byte(id))
	plain := notPlain.ReplaceAllString(strings.ToLower(id), "-")
	plain = strings.Trim(plain[:min(len(plain), 40)], "-")
	if plain != "" {
		plain += "-"
	}
	name = BranchPrefix + plain + hex.EncodeToString(sum[:8])
	if err := plumbing.ReferenceName(name).Validate(); err != nil {
		return "", fmt.Errorf("branch name: %w", err)
	}
	return name, nil
}

// CheckRef reports whether a branch named by [BranchName] could be made now: the error is or wraps [ErrRefExists] or a
// [*ConflictError]. It is meant for before a run, so that no work is done that cannot land.
func CheckRef(r *gitdiff.Repo, branch string) error {
	if err := checkRef(r, branch); err != nil {
		return fmt.Errorf("check branch %s: %w", gitname.Clip(branch, 200), err)
	}
	return nil
}

func checkRef(r *gitdiff.Repo, branch string) error {
	if err := validBranch(branch); err != nil {
		return err
	}
	if err := looseRef(r, branch); err != nil {
		return err
	}
	return packedRef(r, branch)
}

// validBranch refuses names that were not made by [BranchName].
func validBranch(branch string) error {
	id, ok := strings.CutPrefix(branch, BranchPrefix)
	if !ok || !plainID.MatchString(id) {
		return fmt.Errorf("%w: not of the form %s<id>", plumbing.ErrInvalidReferenceName, BranchPrefix)
	}
	return plumbing.ReferenceName(branch).Validate()
}

// looseRef finds files that are the branch, above it or below it. A symbolic link above it counts as a file: the branch
// would be written wherever the link leads. Empty directories do not count.
func looseRef(r *gitdiff.Repo, branch string) error {
	for dir := path.Dir(branch); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(r.CommonDir(), dir))
		if err == nil && !info.IsDir() {
			return &ConflictError{Ref: branch, With: dir}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	file := filepath.Join(r.CommonDir(), branch)
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return ErrRefExists
	}
	return filepath.WalkDir(file, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return &ConflictError{Ref: branch, With: strings.TrimPrefix(p, r.CommonDir()+"/")}
	})
}

// packedRef finds the branch, and for names above and below it, in the file git collects references in: lines of an
// id and a name, sorted or not (Documentation/git-pack-refs).
func packedRef(r *gitdiff.Repo, branch string) error {
	f, err := gitfile.Open(r.CommonDir(), "packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		_, ref, ok := bytes.Cut(lines.Bytes(), []byte(" "))
		if !ok || len(ref) == 0 || lines.Bytes()[0] == '#' {
			continue
		}
		switch name := string(ref); {
		case name == branch:
			return ErrRefExists
		case strings.HasPrefix(branch, name+"/"), strings.HasPrefix(name, branch+"/"):
			return &ConflictError{Ref: branch, With: name}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read packed-refs: %w", err)
	}
	return nil
}
