package runner

import (
	"fmt"
	"strings"
	"testing"

	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/document"
)

func TestLitterIsANoteThatNamesPlaces(t *testing.T) {
	t.Parallel()
	added := func(names ...string) *change.Diff {
		d := &change.Diff{}
		for _, n := range names {
			d.Changes = append(d.Changes, change.Change{Name: n, Type: change.Added})
		}
		return d
	}
	var f findings
	(&captured{diff: added("a.py", "node_modules/x\x1b[31m/y", "node_modules/z", "b/__pycache__/a.pyc")}).reportLitter(&f)
	if len(f.list) != 1 || f.list[0].Code != document.CodeLitter || f.status(true) != document.StatusSuccess ||
		!strings.Contains(f.list[0].Description, `3 new files look like what tools leave behind: "node_modules/", "b/__pycache__/"`) {
		t.Errorf("%+v", f.list)
	}
	// What the base has as well is wanted, and a flood is counted.
	f = findings{}
	wanted := added("vendor.orig", "venv/new.py")
	wanted.Changes = append(wanted.Changes, change.Change{Name: "venv/old.py", Type: change.Modified}, change.Change{Name: "vendor.orig", Type: change.Deleted})
	if (&captured{diff: wanted}).reportLitter(&f); len(f.list) != 0 {
		t.Errorf("%+v", f.list)
	}
	var many []string
	for n := range 100_000 {
		many = append(many, fmt.Sprintf("%d/\x1b.pyc", n))
	}
	if (&captured{diff: added(many...)}).reportLitter(&f); len(f.list) != 1 || len(f.list[0].Description) > 3000 || strings.ContainsRune(f.list[0].Description, 0x1b) {
		t.Errorf("%d issues", len(f.list))
	}
}
