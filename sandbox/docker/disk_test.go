package docker

import (
	"testing"

	"sandboxrun/sandbox"
)

// Of several boxes on a full disk, those end that filled it.
func TestAFullDiskEndsTheBoxThatFilledIt(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, c := range map[string]struct {
		floor, start, free, grown int64 // MiB
		hidden                    string
		want                      bool
	}{
		"filled it":                         {512, 5000, 500, 4400, "", true},
		"filled a third of it":              {512, 5000, 500, 1500, "", true},
		"wrote little":                      {512, 5000, 500, 100, "", false},
		"began when it was nearly full":     {512, 520, 511, 9, "", false},
		"wrote nothing":                     {512, 5000, 500, 0, "", false},
		"hides what it has":                 {512, 5000, 500, 1, "descriptors", true},
		"hides something, nothing was lost": {512, 511, 511, 0, "descriptors", false},
		"wrote little, and nothing is left": {512, 5000, 250, 100, "", true},
		"a large floor":                     {100_000, 101_000, 99_990, 1000, "", true},
		"a large floor, others":             {100_000, 101_000, 99_990, 10, "", false},
		"a large floor, far below":          {100_000, 101_000, 99_700, 10, "", true},
		"a small floor":                     {16, 40, 15, 20, "", true},
		"a small floor, others":             {16, 40, 15, 1, "", false},
		"a small floor, half of it gone":    {16, 40, 7, 1, "", true},
	} {
		d := &disk{limits: sandbox.Limits{FreeBytes: c.floor * mib}, startAt: usage{bytes: c.start * mib}}
		d.last = look{grown: usage{bytes: c.grown * mib}, free: usage{bytes: c.free * mib}, hidden: c.hidden}
		if got := d.guilty(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
