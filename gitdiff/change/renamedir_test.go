package change

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"sandboxrun/gitdiff/gitdifftest"
)

// changesOf are deleted and added files, by path and content.
func changesOf(files map[string]string, from bool) (list []*Change) {
	for name, text := range files {
		s := side{id: plumbing.ComputeHash(plumbing.BlobObject, []byte(text)), mode: filemode.Regular}
		if from {
			list = append(list, &Change{Name: name, Type: Deleted, old: s})
		} else {
			list = append(list, &Change{Name: name, Type: Added, new: s})
		}
	}
	return list
}

// Files that equal each other come from the directory that theirs was, as an own content beside or below them shows.
func TestFilesOfMovedDirectoriesComeFromTheSameDirectory(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ gone, come, want map[string]string }{
		"two of the same form": {
			map[string]string{"src/a/init": "", "src/a/x": "a", "src/a/same": "s", "src/b/init": "", "src/b/x": "b", "src/b/same": "s"},
			map[string]string{"lib/2/init": "", "lib/2/x": "a", "lib/2/same": "s", "lib/1/init": "", "lib/1/x": "b", "lib/1/same": "s"},
			map[string]string{"lib/2/init": "src/a/init", "lib/2/x": "src/a/x", "lib/2/same": "src/a/same", "lib/1/init": "src/b/init", "lib/1/x": "src/b/x", "lib/1/same": "src/b/same"},
		},
		"an own content deeper": {
			map[string]string{"src/init": "", "src/p/q/x": "only", "src/p/init": ""},
			map[string]string{"lib/src/init": "", "lib/src/p/q/x": "only", "lib/src/p/init": ""},
			map[string]string{"lib/src/init": "src/init", "lib/src/p/q/x": "src/p/q/x", "lib/src/p/init": "src/p/init"},
		},
		"an own content above": {
			map[string]string{"src/x": "only", "src/p/init": ""},
			map[string]string{"x": "only", "p/init": ""},
			map[string]string{"x": "src/x", "p/init": "src/p/init"},
		},
		"another content there": {
			map[string]string{"src/x": "only", "src/y": "old"},
			map[string]string{"lib/x": "only", "lib/y": "new", "lib/z": ""},
			map[string]string{"lib/x": "src/x", "lib/y": "", "lib/z": ""},
		},
		"nothing but empty files": {map[string]string{"a/init": ""}, map[string]string{"b/init": ""}, map[string]string{"b/init": ""}},
		"to the root and from it": {
			map[string]string{"x": "x", "d/y": "y", "d/e": ""}, map[string]string{"n/x": "x", "y": "y", "e": ""},
			map[string]string{"n/x": "x", "y": "d/y", "e": "d/e"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			come := changesOf(tc.come, false)
			equalRenames(directoryRenames(changesOf(tc.gone, true), come))
			got := map[string]string{}
			for _, c := range come {
				got[c.Name] = c.OldName
			}
			gitdifftest.Equal(t, "old names", got, tc.want)
		})
	}
}

func TestMovedDirectoriesCostNoMoreThanTheirNumber(t *testing.T) {
	t.Parallel()
	gone, come := map[string]string{}, map[string]string{}
	for i := range 100_000 {
		gone[fmt.Sprintf("a/%d/x/y/z", i)], come[fmt.Sprintf("b/%d/x/y/z", i)] = fmt.Sprint(i%70_000), fmt.Sprint(i%70_000)
	}
	from, to := changesOf(gone, true), changesOf(come, false)
	began := time.Now()
	goneLeft, comeLeft := directoryRenames(from, to)
	if took := time.Since(began); len(goneLeft) != 0 || len(comeLeft) != 0 || took > time.Minute {
		t.Errorf("%d and %d are left after %s", len(goneLeft), len(comeLeft), took)
	}
}
