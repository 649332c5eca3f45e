package gitdiff

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// NotFileError says that a path of a tree has no content to be read.
type NotFileError struct {
	Path string // the path, or the beginning of it that is not a directory
	What string // "a symbolic link", "a directory" or "a submodule"
}

func (e *NotFileError) Error() string { return fmt.Sprintf("%q is %s", e.Path, e.What) }

// FileReader reads single files of trees by their paths, all within one budget. It reads git objects and nothing else, so
// that a link leads nowhere. It must not outlive its [Objects] and is not safe for concurrent use.
type FileReader struct {
	objects   *Objects
	maxFiles  int
	maxBytes  int64
	filesLeft int
	bytesLeft int64
	trees     map[plumbing.Hash]map[string]object.TreeEntry // read before; their number is bounded by maxBytes
}

// Files returns a reader of at most maxFiles files. Their contents may have maxBytes bytes together with the directories on
// the way to them, of which each counts once.
func (o *Objects) Files(maxFiles int, maxBytes int64) *FileReader {
	return &FileReader{objects: o, maxFiles: maxFiles, maxBytes: maxBytes, filesLeft: maxFiles, bytesLeft: maxBytes,
		trees: map[plumbing.Hash]map[string]object.TreeEntry{}}
}

// Read returns the content of the file at a path (raw bytes, slash-separated, as in change.Change.Name) of a tree by hex id;
// an empty id is the empty tree. A symbolic link, a directory and a submodule have no content: the error is a
// [*NotFileError], also where a link or a submodule stands on the way to the path. It wraps [fs.ErrNotExist] where nothing
// has that path. It is a [*BudgetError] where the budget does not suffice; such a file costs no bytes, so that a smaller one
// may still be read.
func (r *FileReader) Read(ctx context.Context, tree, path string) ([]byte, error) {
	if r.filesLeft == 0 {
		return nil, &BudgetError{Code: TooManyFiles, What: "files", Limit: int64(r.maxFiles)}
	}
	r.filesLeft--
	id, err := r.find(ctx, tree, path)
	if err != nil {
		return nil, err
	}
	size, err := r.take(id)
	if err != nil {
		return nil, err
	}
	content, err := gitobj.Content(r.objects.st, plumbing.BlobObject, id, size)
	if err == nil && plumbing.ComputeHash(plumbing.BlobObject, content) != id {
		err = gitobj.Corrupt(id)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// find returns the id of the file at a path.
func (r *FileReader) find(ctx context.Context, tree, path string) (plumbing.Hash, error) {
	at, err := gitobj.ParseTree(tree)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	parts := strings.Split(path, "/")
	if len(path) > MaxPath || slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." }) {
		return plumbing.ZeroHash, fmt.Errorf("%.200q is not a path of a tree: %w", path, fs.ErrNotExist)
	}
	for i, part := range parts {
		entries, err := r.entries(ctx, at)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		last := i == len(parts)-1
		e, ok := entries[part]
		what := notFile[e.Mode]
		switch {
		case !ok, what == "" && !last:
			return plumbing.ZeroHash, fmt.Errorf("%.200q: %w", path, fs.ErrNotExist)
		case what != "" && (last || e.Mode != filemode.Dir):
			return plumbing.ZeroHash, &NotFileError{Path: strings.Join(parts[:i+1], "/"), What: what}
		}
		at = e.Hash
	}
	return at, nil
}

// notFile says what the entries are that have no content.
var notFile = map[filemode.FileMode]string{
	filemode.Dir: "a directory", filemode.Symlink: "a symbolic link", filemode.Submodule: "a submodule",
}

// entries returns the entries of one tree.
func (r *FileReader) entries(ctx context.Context, id plumbing.Hash) (map[string]object.TreeEntry, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if known, ok := r.trees[id]; ok || id.IsZero() {
		return known, nil
	}
	if _, err := r.take(id); err != nil {
		return nil, err
	}
	entries, err := gitobj.EntriesByName(r.objects.st, id)
	if err != nil {
		return nil, err
	}
	r.trees[id] = entries
	return entries, nil
}

// take spends the size of an object before it is read.
func (r *FileReader) take(id plumbing.Hash) (size int64, err error) {
	size, err = r.objects.st.EncodedObjectSize(id)
	if err != nil {
		return 0, gitobj.ReadError(id, err)
	}
	if size > r.bytesLeft {
		return 0, &BudgetError{Code: TotalTooLarge, What: "bytes of files", Limit: r.maxBytes}
	}
	r.bytesLeft -= size
	return size, nil
}
