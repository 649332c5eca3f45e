package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Each of these names was compared with every other one: 60 000 empty files of a
// box took hours. Where that comes back, this test hangs.
func TestManyShortNamesCostNoMoreThanTheirNumber(t *testing.T) {
	t.Parallel()
	var entries []object.TreeEntry
	for i := range 200_000 {
		entries = append(entries,
			object.TreeEntry{Name: fmt.Sprintf("%06x~%d", i, i%10), Mode: filemode.Regular},
			object.TreeEntry{Name: fmt.Sprintf("name with blanks %d.text", i), Mode: filemode.Regular})
	}
	entries = append(entries, object.TreeEntry{Name: "namewi~1.tex", Mode: filemode.Regular})
	var met []string
	new(capturer).shortNames(entries, func(e, other object.TreeEntry) { met = append(met, e.Name+" "+other.Name) })
	if got := strings.Join(met, "; "); got != "namewi~1.tex name with blanks 0.text" {
		t.Errorf("met: %q", got)
	}
}
