package gitdiff

import (
	"fmt"
	"time"
)

// StoreCommit makes the commit of a landing without landing it: in the store only, with no branch. A later workspace can
// start from it, and a later landing on top of it brings it along.
func (o *Objects) StoreCommit(l Landing) (Commit, error) {
	id, err := o.writeCommit(l)
	if err != nil {
		return Commit{}, fmt.Errorf("store commit: %w", err)
	}
	return Commit{ID: id.String(), Tree: l.Tree, Time: l.When.UTC().Truncate(time.Second)}, nil
}
