package land

import (
	"fmt"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// checkEntry refuses a new entry that git fsck --strict refuses, by its name, its mode or what git would read from it.
func (s *landingSet) checkEntry(was, e object.TreeEntry) error {
	if err := gitobj.CheckEntry(e); err != nil {
		return err
	}
	if e.Hash.IsZero() {
		return fmt.Errorf("%w: %q names no object", gitobj.ErrTreeEntry, e.Name)
	}
	if len(e.Name) > gitdiff.MaxPath {
		return fmt.Errorf("%w: a name of %d bytes", gitobj.ErrTreeEntry, len(e.Name))
	}
	var judge func(was, now string) []gitdiff.Finding
	switch {
	case !e.Mode.IsFile() || e.Mode == filemode.Symlink:
		return nil
	case gitname.IsDotGitmodules(e.Name):
		judge = change.JudgeModules
	case gitname.IsDotGitattributes(e.Name):
		judge = change.JudgeAttributes
	default:
		return nil
	}
	now, err := gitobj.Content(s.storer, plumbing.BlobObject, e.Hash, change.MaxTextBytes)
	if err != nil {
		return err
	}
	var old []byte
	if was.Mode.IsRegular() {
		if old, err = gitobj.Content(s.storer, plumbing.BlobObject, was.Hash, change.MaxTextBytes); err != nil {
			return err
		}
	}
	for _, f := range judge(string(old), string(now)) {
		if f.Grade == gitdiff.Refuse {
			return fmt.Errorf("%w: %q: %s", gitobj.ErrTreeEntry, e.Name, f.Detail)
		}
	}
	return nil
}
