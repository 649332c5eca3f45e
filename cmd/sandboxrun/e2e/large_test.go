package e2e

import (
	"fmt"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/internal/testenv"
)

func TestLargeRepositoriesWork(t *testing.T) {
	t.Parallel()
	for _, files := range []int{13_000, 100_000} {
		t.Run(fmt.Sprintf("%d files", files), func(t *testing.T) {
			t.Parallel()
			if files > 13_000 {
				testenv.NeedsAll(t, "makes a hundred thousand files")
			}
			rig := newRig(t)
			rig.timeout = 10 * time.Minute
			r := gitdifftest.Generated(t, files)
			repo := &repo{t: t, dir: r.Dir}
			res, o := rig.execute(repo.task("git status --porcelain | wc -l | grep -qx 0", "f=$(git ls-files | head -1) && echo edited >> $f && echo new > added.txt && git rm -q $(git ls-files | tail -1)"))
			if o.exit != 0 || len(res.FilesChanged) != 3 {
				t.Fatalf("exit %d, files %+v, issues %+v", o.exit, res.FilesChanged, res.Issues)
			}
			if tree := repo.git("rev-parse", res.Git.Branch+"^{tree}"); tree != res.Git.Tree {
				t.Errorf("landed tree %s, result says %s", tree, res.Git.Tree)
			}
			t.Logf("first run: phases %v ms", res.Timing)
			again, _ := rig.execute(repo.task("echo new > added.txt"))
			t.Logf("second run: phases %v ms", again.Timing)
		})
	}
}
