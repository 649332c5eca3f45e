package gitdiff

import (
	"testing"
	"time"
)

// landing is a landing of a tree on the head of the repository.
func (b *bench) landing(t testing.TB, id, tree string) Landing {
	t.Helper()
	branch, err := BranchName(id)
	if err != nil {
		t.Fatal(err)
	}
	return Landing{Branch: branch, Parent: b.head(t), Tree: tree, Message: "say hello\n\nbody", When: b.landingTime()}
}

func (b *bench) landingTime() time.Time { return time.Unix(1_700_000_000, 0).UTC() }
