package gitobj

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Restore stores a tree that has at each of the given paths what before has there, nothing where before has nothing, and
// otherwise what tree has. A directory that becomes empty is left out, and a file in the way of a restored path is replaced. The
// cost follows the paths. The error can be ctx's, a [*MissingError] or a [*TreeError].
func Restore(ctx context.Context, st storer.EncodedObjectStorer, tree, before plumbing.Hash, paths []string) (plumbing.Hash, error) {
	id, _, err := restore(ctx, st, tree, before, paths)
	return id, err
}

// restore is Restore of one directory; a zero hash is an empty one. It also says whether the new one is empty.
func restore(ctx context.Context, st storer.EncodedObjectStorer, tree, before plumbing.Hash, paths []string) (_ plumbing.Hash, empty bool, err error) {
	if ctx.Err() != nil {
		return plumbing.ZeroHash, false, context.Cause(ctx)
	}
	now, err := EntriesByName(st, tree)
	if err != nil {
		return plumbing.ZeroHash, false, err
	}
	was, err := EntriesByName(st, before)
	if err != nil {
		return plumbing.ZeroHash, false, err
	}
	entries := maps.Clone(now)
	if entries == nil {
		entries = map[string]object.TreeEntry{}
	}
	below := map[string][]string{} // paths by the directory they are in
	whole := map[string]bool{}     // names to be restored with all that is below
	for _, p := range paths {
		name, rest, deeper := strings.Cut(p, "/")
		if deeper {
			below[name] = append(below[name], rest)
		} else {
			whole[name] = true
		}
	}
	for name := range whole {
		if e, ok := was[name]; ok {
			entries[name] = e
		} else if now[name].Mode != filemode.Dir {
			delete(entries, name)
		}
	}
	for name, rest := range below {
		if _, ok := was[name]; whole[name] && ok {
			continue // restored, with all that is below
		}
		id, empty, err := restore(ctx, st, directory(now[name]), directory(was[name]), rest)
		if err != nil {
			return plumbing.ZeroHash, false, err
		}
		switch {
		case !empty:
			entries[name] = object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: id}
		case now[name].Mode == filemode.Dir:
			delete(entries, name)
		}
	}
	id, err := WriteTree(st, slices.Collect(maps.Values(entries)), tree)
	return id, len(entries) == 0, err
}

// directory is the tree of an entry, the zero hash where it is none.
func directory(e object.TreeEntry) plumbing.Hash {
	if e.Mode != filemode.Dir {
		return plumbing.ZeroHash
	}
	return e.Hash
}
