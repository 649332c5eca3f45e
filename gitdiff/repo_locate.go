package gitdiff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sandboxrun/gitdiff/gitfile"
)

// ErrNotRepository is returned by [Open] for a path that holds no git repository.
var ErrNotRepository = errors.New("not a git repository")

// RootError is returned by [Open] for a path inside a repository that is not its root.
type RootError struct {
	Path string // what was asked for
	Root string // the repository it is part of
}

func (e *RootError) Error() string {
	return fmt.Sprintf("%s is not the root of a repository: use %s", e.Path, e.Root)
}

// maxPointer bounds the .git and commondir files of a linked work tree: one path each.
const maxPointer = 64 << 10

// locate finds the git directories of the repository whose root is root, a directory without symlinks in its path.
func locate(root string) (*Repo, error) {
	gitDir, err := pointedGitDir(root)
	switch {
	case err == nil:
		common, err := commonOf(gitDir)
		if err != nil {
			return nil, err
		}
		return &Repo{root: root, gitDir: gitDir, commonDir: common}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if isGitDir(root) {
		if filepath.Base(root) == ".git" {
			return nil, &RootError{Path: root, Root: filepath.Dir(root)}
		}
		return &Repo{root: root, gitDir: root, commonDir: root, bare: true}, nil
	}
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		if _, err := pointedGitDir(dir); err == nil {
			return nil, &RootError{Path: root, Root: dir}
		}
		if dir == filepath.Dir(dir) {
			return nil, fmt.Errorf("%s: %w", root, ErrNotRepository)
		}
	}
}

// pointedGitDir is the git directory that root/.git is, or names. The error wraps fs.ErrNotExist only when there is no
// root/.git at all. See gitrepository-layout(5).
func pointedGitDir(root string) (string, error) {
	dot := filepath.Join(root, ".git")
	info, err := os.Stat(dot)
	if err != nil {
		return "", err
	}
	dir := dot
	if !info.IsDir() {
		text, err := gitfile.Read(dot, maxPointer)
		if err != nil {
			return "", err
		}
		target, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if !ok || target == "" {
			return "", fmt.Errorf("%s: %w: the file names no git directory", dot, ErrNotRepository)
		}
		dir = target
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s cannot be read", dot, ErrNotRepository, dir)
	}
	if _, err := os.ReadDir(resolved); err != nil {
		return "", err
	}
	if !isGitDir(resolved) {
		return "", fmt.Errorf("%s: %w: %s is no git directory", dot, ErrNotRepository, resolved)
	}
	return resolved, nil
}

// isGitDir applies git's own test: a HEAD, and objects and refs here or in the common directory.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common, err := commonOf(dir)
	if err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// commonOf is the directory a git directory shares with the other work trees: itself, unless a commondir file names another.
func commonOf(gitDir string) (string, error) {
	text, err := gitfile.ReadIn(gitDir, "commondir", maxPointer)
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	dir := strings.TrimRight(string(text), "\r\n")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(gitDir, dir)
	}
	return filepath.EvalSymlinks(dir)
}
