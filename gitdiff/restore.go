package gitdiff

import (
	"context"
	"fmt"

	"sandboxrun/gitdiff/gitobj"
)

// Restore stores a tree that has at each of the given paths what the tree before has there, nothing where that has nothing, and
// otherwise what tree has, and returns its id. Only the runner's own store is written. See [gitobj.Restore] for errors.
func (o *Objects) Restore(ctx context.Context, tree, before string, paths []string) (string, error) {
	now, err := gitobj.ParseTree(tree)
	if err != nil {
		return "", err
	}
	was, err := gitobj.ParseTree(before)
	if err != nil {
		return "", err
	}
	id, err := gitobj.Restore(ctx, o.st, now, was, paths)
	if err != nil {
		return "", fmt.Errorf("restore paths: %w", err)
	}
	return id.String(), nil
}
