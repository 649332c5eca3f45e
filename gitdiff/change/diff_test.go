package change

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/internal/testenv"

	"pgregory.net/rapid"
)

func numstat(c Change) string {
	if c.Binary {
		return "-\t-\t" + c.Name
	}
	return fmt.Sprintf("%d\t%d\t%s", c.Additions, c.Deletions, c.Name)
}

func TestDiffDescribesEachChange(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("a line of some length that says little\n", 30)
	b := workbench.New(t, map[string]string{"same.txt": body, "like.txt": body + "x\n", "run": "x\n", "file": "x\n", "bad\xff": "x\n", "gone": "y\n"})
	dir := b.Box(t)
	gitdifftest.Must(t, os.Rename(filepath.Join(dir, "same.txt"), filepath.Join(dir, "new same.txt")))
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "like.txt")))
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "gone")))
	gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "new like.txt"), []byte("0\n"+body+"xx\n"), 0o644))
	gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "run"), 0o755))
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "file")))
	gitdifftest.Must(t, os.Symlink("run", filepath.Join(dir, "file")))
	gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "bad\xff"), []byte("z\n"), 0o644))
	var got []string
	for _, c := range diffTo(t, b, capturedForDiff(t, b, dir)).Changes {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s %s %s", c.Type, c.Path, c.PathB64, c.OldPath, c.ModeChange), " "))
	}
	gitdifftest.Equal(t, "changes", got, []string{
		"modified bad\ufffd YmFk/w==", "modified file   100644→120000", "deleted gone", "deleted like.txt", "added new like.txt  like.txt",
		"added new same.txt  same.txt", "modified run   100644→100755", "deleted same.txt",
	})
}

func TestDiffOfEqualTreesIsEmpty(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\r\n", "p": "version https://git-lfs.github.com/spec/v1\n"})
	d := diffTo(t, b, b.Head(t).Tree)
	var patch bytes.Buffer
	gitdifftest.Must(t, d.WritePatch(t.Context(), &patch))
	gitdifftest.Equal(t, "changes and patch", fmt.Sprint(len(d.Changes), patch.Len()), "0 0")
}

func TestDiffRefusesWhatIsNoTree(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	for _, id := range []string{"HEAD", "../../x", strings.Repeat("1", 40), b.Head(t).ID} {
		if _, err := Compare(t.Context(), b.Objects, "", id); err == nil {
			t.Errorf("no error for %q", id)
		}
	}
}

// D17: no pair of texts makes a comparison run away, and each still gives a patch that applies.
func TestDiffOfHostileTextsIsBounded(t *testing.T) { //nolint:tparallel // each is timed
	t.Parallel()
	testenv.NeedsTime(t, "compares large hostile texts")
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		var s strings.Builder
		for range n {
			fmt.Fprintf(&s, "%x\n", random.Uint32())
		}
		return s.String()
	}
	same := strings.Repeat("a\n", 60_000)
	for name, texts := range map[string][2]string{
		"a line of megabytes":   {strings.Repeat("x", 3<<20), strings.Repeat("y", 3<<20)},
		"above the size limit":  {strings.Repeat("x", 20<<20), strings.Repeat("y", 20<<20)},
		"random lines":          {noise(18_000), noise(18_000)},
		"many random lines":     {noise(100_000), noise(100_000)},
		"repeated lines":        {"1\n" + same[:18_000*2] + "2\n" + same[:15_000], "3\n" + same[:15_000*2] + "4\n"},
		"repeated lines, moved": {same + "b\n", "b\n" + same},
	} {
		t.Run(name, func(t *testing.T) {
			b := workbench.New(t, map[string]string{"f": texts[0]})
			dir := b.Box(t)
			gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "f"), []byte(texts[1]), 0o644))
			tree := capturedForDiff(t, b, dir)
			start := time.Now()
			d := diffTo(t, b, tree)
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("took %v", took)
			}
			b.LendObjects(t)
			gitdifftest.Equal(t, "applied", applied(t, b, d), tree)
		})
	}
}

// An edit always is one: what stays of the old text and what stays of the new are the same lines.
func TestCompareLinesKeepsEqualLines(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`([abc ]{0,2}\n){0,12}[ab]?`)
	rapid.Check(t, func(rt *rapid.T) {
		was, now := text.Draw(rt, "old"), text.Draw(rt, "new")
		e := compareLines(was, now, time.Minute)
		kept := func(lines []string, marks []bool) (s string) {
			for i, line := range lines {
				if !marks[i] {
					s += line
				}
			}
			return s
		}
		if a, b := kept(e.old, e.gone), kept(e.new, e.put); a != b {
			rt.Errorf("kept %q of the old and %q of the new", a, b)
		}
		if strings.Join(e.old, "") != was || strings.Join(e.new, "") != now {
			rt.Errorf("lines do not make up the texts")
		}
	})
}

// Two commits of a few objects can differ in paths of gigabytes.
func TestCompareBoundsTheBytesOfChangedPaths(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	repo := gitdifftest.At(t, b.Dir)
	id, kind := "100644 blob "+repo.Blob(""), "040000 tree "
	for range 15 {
		var lines []string
		for i := range 20 {
			lines = append(lines, fmt.Sprintf("%s\t%c%s", id, 'a'+i, strings.Repeat("x", 240)))
		}
		id = kind + repo.Tree(lines...)
	}
	_, err := Compare(t.Context(), b.Objects, "", strings.TrimPrefix(id, kind))
	if over, ok := errors.AsType[*gitdiff.BudgetError](err); !ok || !strings.Contains(over.What, "bytes of changed paths") {
		t.Errorf("error = %.300v, want a budget error for the bytes of paths", err)
	}
}
