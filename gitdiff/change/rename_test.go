package change

import (
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Paths of one content were each compared with all others. Where that comes
// back, this test hangs.
func TestManyRenamesOfOneContentCostNoMoreThanTheirNumber(t *testing.T) {
	t.Parallel()
	const n = 200_000
	same := plumbing.ComputeHash(plumbing.BlobObject, []byte("x"))
	gone, come := make([]*Change, n), make([]*Change, n)
	for i := range n {
		gone[i] = &Change{Name: fmt.Sprintf("a/%d", i), Type: Deleted, old: side{id: same, mode: filemode.Regular}}
		come[i] = &Change{Name: fmt.Sprintf("b/%d", n-1-i), Type: Added, new: side{id: same, mode: filemode.Regular}}
	}
	come[0].Name, come[1].Name = "b/other", "b/another"
	goneLeft, comeLeft := equalRenames(gone, come)
	if len(goneLeft) != 0 || len(comeLeft) != 0 {
		t.Fatalf("%d and %d are left", len(goneLeft), len(comeLeft))
	}
	for at, want := range map[int]string{2: fmt.Sprintf("a/%d", n-3), n - 1: "a/0", 0: fmt.Sprintf("a/%d", n-2), 1: fmt.Sprintf("a/%d", n-1)} {
		if got := come[at].OldName; got != want {
			t.Errorf("%s comes from %q, want %q", come[at].Name, got, want)
		}
	}
}
