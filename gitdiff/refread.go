package gitdiff

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// ErrUnborn is returned by [Repo.Resolve] for the HEAD of a repository that has no commit yet.
var ErrUnborn = errors.New("the repository has no commit yet")

// maxSymbolic bounds references that name references, as git does.
const maxSymbolic = 5

// Reference finds the object that a full or short reference name stands for, in the order of gitrevisions(7). The error
// is plumbing.ErrReferenceNotFound where there is none, [ErrUnborn] for a HEAD whose branch does not exist yet.
func (r *Repo) Reference(name string) (plumbing.Hash, error) {
	rules := []string{"refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"}
	if strings.HasPrefix(name, "refs/") || strings.ToUpper(name) == name {
		rules = append([]string{name}, rules...) // HEAD, FETCH_HEAD and the like
	}
	for _, full := range rules {
		id, err := r.follow(plumbing.ReferenceName(full))
		if !errors.Is(err, plumbing.ErrReferenceNotFound) {
			return id, err
		}
		if full == "HEAD" {
			return id, ErrUnborn
		}
	}
	return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
}

// follow resolves one full reference name through symbolic references. Names outside refs/ belong to this work tree.
func (r *Repo) follow(name plumbing.ReferenceName) (plumbing.Hash, error) {
	for range maxSymbolic {
		dir := r.commonDir
		if !strings.HasPrefix(name.String(), "refs/") {
			dir = r.gitDir
		}
		files := refsFS(dir)
		ref, err := dotgit.New(files).Ref(name)
		if files.unsafe != nil {
			return plumbing.ZeroHash, files.unsafe
		}
		if errors.Is(err, fs.ErrPermission) {
			return plumbing.ZeroHash, err
		}
		if err != nil {
			// Also a file in the place of a directory of the name, and a name that git would refuse.
			return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
		}
		if ref.Type() == plumbing.HashReference {
			return ref.Hash(), nil
		}
		name = ref.Target()
	}
	return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
}
