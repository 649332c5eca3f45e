package change

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

func TestAdditionsAreTheNewLinesAndContents(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("a line of some length that says little\n", 30)
	b := workbench.New(t, map[string]string{"edit": "1\n2\n3\n4\n", "move": body + "moved\n", "like": body + "old\n", "run": "x\n", "gone": "y\n", "file": "x\n"})
	dir := b.Box(t)
	put := func(name, text string) {
		gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	put("edit", "0\n1\n3\nx\ny\n4\n5")
	gitdifftest.Must(t, os.Rename(filepath.Join(dir, "move"), filepath.Join(dir, "moved")))
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "like")))
	put("liked", body+"new\n")
	gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "run"), 0o755))
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "gone")))
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "file")))
	gitdifftest.Must(t, os.Symlink("target", filepath.Join(dir, "file")))
	put("binary", "a\x00b")
	put("large", strings.Repeat("z", MaxTextBytes+1))
	var got []string
	diff := diffTo(t, b, capturedForDiff(t, b, dir))
	err := diff.EachAddition(t.Context(), func(a Addition) error {
		said := a.Name
		for _, l := range a.Runs {
			said += fmt.Sprintf(" %d:%q", l.First, l.Text[max(0, len(l.Text)-8):])
		}
		if a.Open != nil {
			in, err := a.Open()
			if err != nil {
				return err
			}
			body, err := io.ReadAll(in)
			said += fmt.Sprintf(" %d bytes, note %v", len(body), a.Note != "")
			if err = errors.Join(err, in.Close()); err != nil {
				return err
			}
		}
		if a.Name == "liked" && !strings.HasSuffix(a.Old, "\nold\n") {
			t.Errorf("what a renamed file was: %q", a.Old)
		}
		got = append(got, said)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	gitdifftest.Equal(t, "additions", got, []string{
		"binary 3 bytes, note false", `edit 1:"0\n" 4:"x\ny\n" 7:"5"`, `file 1:"target"`, "large 8388609 bytes, note true",
		`liked 1:"tle\nnew\n"`, "moved", "run",
	})
	stop := errors.New("enough")
	if err := diff.EachAddition(t.Context(), func(Addition) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the visitor's error became %v", err)
	}
}
