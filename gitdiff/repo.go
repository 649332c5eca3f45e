package gitdiff

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
)

// Repo is a user's repository, opened for reading. Its configuration is not obeyed and nothing is written to it.
type Repo struct {
	root      string // work tree or bare directory, symlinks resolved
	gitDir    string // this work tree's own git directory: HEAD and index
	commonDir string // shared by all work trees: objects and refs
	bare      bool
	objects   *reader
}

// Open opens the repository whose root is the absolute path: an ordinary or bare one, a linked work tree, a submodule's
// work tree, shallow or not. Symlinks in path are resolved once, here.
//
// The error is a [*RootError] for a directory inside a repository, wraps [ErrNotRepository] where there is none, is a
// [*FormatError] for a repository format that cannot be read, and wraps [os.ErrNotExist] or [os.ErrPermission].
func Open(path string) (*Repo, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("open repository %s: not an absolute path", path)
	}
	r, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	return r, nil
}

func open(path string) (*Repo, error) {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w", root, ErrNotRepository)
	}
	r, err := locate(root)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(r.commonDir); err != nil {
		return nil, err
	}
	if r.objects, err = newReader(filepath.Join(r.commonDir, "objects")); err != nil {
		return nil, err
	}
	return r, nil
}

// Root is the absolute path of the work tree, or of the repository itself when it is bare; it contains no symlink.
func (r *Repo) Root() string { return r.root }

// Bare reports whether there is no work tree.
func (r *Repo) Bare() bool { return r.bare }

// GitDir is the absolute path of this work tree's own git directory, with its HEAD and index.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir is the absolute path of the git directory that all work trees share, with its objects and refs.
func (r *Repo) CommonDir() string { return r.commonDir }

// ObjectDirs lists the directories that hold the repository's objects: its own and those it borrows from.
func (r *Repo) ObjectDirs() []string { return r.objects.dirs() }

// HasObject reports whether the repository holds an object.
func (r *Repo) HasObject(id plumbing.Hash) (bool, error) { return r.objects.has(id) }

// EncodedObject reads an object of the repository.
func (r *Repo) EncodedObject(t plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	return r.objects.EncodedObject(t, id)
}

// Close releases the open files of the repository; objects read from it are not to be used afterwards.
func (r *Repo) Close() error { return r.objects.Close() }

// WorkTree is the working tree that git takes for this repository's: the root, unless core.worktree names another
// directory. It is the only setting of a user that is read besides the format.
func (r *Repo) WorkTree() (string, error) {
	tree := ""
	for _, name := range []string{"config", "config.worktree"} {
		if name == "config" && r.gitDir != r.commonDir {
			continue // of the main work tree
		}
		cfg, err := readConfig(r.gitDir, name)
		if err != nil {
			return "", fmt.Errorf("%s of %s: %w", name, r.gitDir, err)
		}
		if value := cfg.Section("core").Option("worktree"); value != "" {
			tree = value
		}
	}
	if tree == "" {
		return r.root, nil
	}
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(r.gitDir, tree)
	}
	return filepath.EvalSymlinks(tree)
}
