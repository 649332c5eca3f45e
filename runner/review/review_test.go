package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

// bench is an ended run whose change leads from the first to the second commit of a repository.
type bench struct {
	st    *state.State
	dir   *state.RunDir
	patch []byte
	known Indexes
}

func newBench(t *testing.T, repo *gitdifftest.Repository, facts bool) *bench {
	t.Helper()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := gitdiff.Open(repo.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := gitdiff.NewStore(st.TreesDir()).For(r)
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.Resolve(t.Context(), "HEAD~1")
	head, herr := r.Resolve(t.Context(), "HEAD")
	diff, derr := change.Compare(t.Context(), objects, base.Tree, head.Tree)
	if err := errors.Join(err, herr, derr); err != nil {
		t.Fatal(err)
	}
	var patch bytes.Buffer
	if err := errors.Join(diff.WritePatch(t.Context(), &patch), objects.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	dir, err := st.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	res := &document.Result{RunID: dir.ID(), Git: document.GitResult{BaseCommit: base.ID, Tree: head.Tree, Patch: dir.PatchPath()}, EndedAt: time.Now()}
	for _, c := range diff.Changes {
		if facts {
			res.FilesChanged = append(res.FilesChanged, document.FileChange{Path: c.Path, PathB64: c.PathB64, ChangeType: string(c.Type), Additions: c.Additions,
				Deletions: c.Deletions, Binary: c.Binary, ModeChange: c.ModeChange, Highlights: c.Highlights})
			res.Issues = append(res.Issues, document.Issue{Code: "about", Path: c.Path})
		} else {
			res.FilesOmitted++
		}
	}
	if err := errors.Join(dir.WritePlan(&plan.Plan{RepoRoot: repo.Dir}), os.WriteFile(dir.PatchPath(), patch.Bytes(), 0o600), dir.Finish(res, func() error { return nil }, nil)); err != nil {
		t.Fatal(err)
	}
	return &bench{st: st, dir: dir, patch: patch.Bytes()}
}

func (b *bench) page(t *testing.T, q Query) Change {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 50
	}
	if q.Lines == 0 {
		q.Lines = 1 << 30
	}
	p, err := Diff(t.Context(), &b.known, b.dir, q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return p
}

func odd(t *testing.T) *gitdifftest.Repository {
	t.Helper()
	r := gitdifftest.New(t)
	r.Write("plain.go", "package a\n\nfunc f() {\n"+strings.Repeat("\tx()\n", 40)+"}\n")
	r.Write("gone.txt", "one\ntwo\n")
	r.Write("file-then-link", "a file\n")
	r.Write("with space", "a")
	r.Write("bin", "\x00\x01")
	r.Write("tool.sh", "exit\n")
	r.Commit("base")
	r.Write("plain.go", "package b\n\nfunc f() {\n"+strings.Repeat("\tx()\n", 39)+"\ty()\n}\n")
	gitdifftest.Must(t, os.Remove(r.Dir+"/gone.txt"))
	gitdifftest.Must(t, os.Remove(r.Dir+"/file-then-link"))
	r.Link("file-then-link", "plain.go")
	r.Write("with space", "a\nb")
	r.Write("bin", "\x00\x02diff --git a/x b/x\n")
	r.Write("new\ttab\"quote", "diff --git a/evil b/evil\n--- a/evil\n+++ b/evil\n@@ -1 +1 @@\n")
	r.Write("not\xff utf8", "GIT binary patch\n\x80\n")
	r.Write("long", strings.Repeat("y", 3*maxLine)+"\nz\n")
	r.Write("empty", "")
	gitdifftest.Must(t, os.Chmod(r.Dir+"/tool.sh", 0o755))
	r.Commit("head")
	return r
}

// The pages of a change hold every path once, and the lines of its patch.
func TestPagesHoldTheWholeChange(t *testing.T) {
	t.Parallel()
	for _, facts := range []bool{true, false} {
		b := newBench(t, odd(t), facts)
		whole := b.page(t, Query{})
		if whole.Total != len(whole.Files) || whole.Total != 10 || whole.Next != 0 {
			t.Fatalf("%d of %d, next %d", len(whole.Files), whole.Total, whole.Next)
		}
		var again []ChangedFile
		for offset := 0; ; {
			p := b.page(t, Query{Offset: offset, Limit: 3})
			again = append(again, p.Files...)
			if offset = p.Next; offset == 0 {
				break
			}
		}
		first, err := json.Marshal(whole.Files)
		second, err2 := json.Marshal(again)
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(first, second) {
			t.Errorf("pages differ from the whole: %v", err)
		}
		byPath := map[string]ChangedFile{}
		for _, f := range whole.Files {
			byPath[f.Path] = f
			if facts && (len(f.Issues) != 1 || f.Issues[0].Path != f.Path) {
				t.Errorf("%q: issues %+v", f.Path, f.Issues)
			}
			lines := 0
			for _, h := range f.Hunks {
				for _, l := range h.Lines {
					lines++
					if l != `\` && len(l) <= maxLine && !strings.Contains(f.Path, "\ufffd") && !bytes.Contains(b.patch, []byte("\n"+l+"\n")) {
						t.Errorf("%q: %q is no line of the patch", f.Path, l)
					}
				}
			}
			if want := map[bool]int{true: f.Lines}[f.NextLine == 0]; lines < want {
				t.Errorf("%q: %d of %d lines", f.Path, lines, want)
			}
		}
		evil := byPath["new\ttab\"quote"]
		if len(evil.Hunks) != 1 || len(evil.Hunks[0].Lines) != 4 || evil.ChangeType != "added" {
			t.Errorf("a file that looks like a patch: %+v", evil)
		}
		link := byPath["file-then-link"]
		if len(link.Hunks) != 2 || !slices.Equal(link.Hunks[0].Lines, []string{"-a file"}) || !slices.Equal(link.Hunks[1].Lines, []string{"+plain.go", `\`}) {
			t.Errorf("a file that became a link: %+v", link)
		}
		if f := byPath["long"]; f.Hunks[0].Clipped != 1 || len(f.Hunks[0].Lines[0]) != maxLine+1 {
			t.Errorf("a long line: %d clipped", f.Hunks[0].Clipped)
		}
		if f := byPath["bin"]; !f.Binary || len(f.Hunks) != 0 {
			t.Errorf("%+v", f)
		}
		if f := byPath["not\ufffd utf8"]; f.PathB64 == "" || len(f.Hunks) != 1 {
			t.Errorf("%+v", f)
		}
		if f := byPath["plain.go"]; len(f.Hunks) != 2 || f.Hunks[1].OldStart != 40 || f.Hunks[1].Section != "func f() {" {
			t.Errorf("%+v", f.Hunks)
		}
		if p := b.page(t, Query{Path: "not\xff utf8"}); len(p.Files) != 1 || p.Next != 0 {
			t.Errorf("%+v", p)
		}
		if p := b.page(t, Query{Summary: true}); len(p.Files) != 10 || p.Files[3].Hunks != nil {
			t.Errorf("%+v", p.Files)
		}
		if _, err := Diff(t.Context(), &b.known, b.dir, Query{Path: "none", Limit: 1}); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// A large file comes in windows that fit together, with the right numbers.
func TestLinesOfOnePathComeInWindows(t *testing.T) {
	t.Parallel()
	b := newBench(t, odd(t), true)
	var joined []string
	for line := 0; ; {
		f := b.page(t, Query{Path: "plain.go", Line: line, Lines: 3}).Files[0]
		for _, h := range f.Hunks {
			joined = append(joined, h.Lines...)
			if h.OldStart == 40 && !slices.Equal(h.Lines[:1], []string{" \tx()"}) {
				t.Errorf("%+v", h)
			}
			if h.OldLines+h.NewLines == 0 {
				t.Errorf("%+v", h)
			}
		}
		if line = f.NextLine; line == 0 {
			break
		}
	}
	var whole []string
	for _, h := range b.page(t, Query{Path: "plain.go"}).Files[0].Hunks {
		whole = append(whole, h.Lines...)
	}
	if !slices.Equal(joined, whole) {
		t.Errorf("%q\n%q", joined, whole)
	}
}

// A change of a thousand files and a hundred thousand lines is shown without trouble.
func TestALargeChangeIsShownInTime(t *testing.T) {
	t.Parallel()
	r := gitdifftest.New(t)
	r.Write("one", "x\n")
	r.Commit("base")
	for i := range 1000 {
		r.Write(fmt.Sprintf("d%d/f%d", i%10, i), strings.Repeat(fmt.Sprintf("line %d of this file, as long as lines are\n", i), 100))
	}
	r.Commit("head")
	b := newBench(t, r, true)
	began := time.Now()
	first := b.page(t, Query{Limit: 50, Lines: 5000})
	took := time.Since(began)
	files, lines := 0, 0
	for offset := 0; ; {
		p := b.page(t, Query{Offset: offset, Limit: 200})
		files += len(p.Files)
		for _, f := range p.Files {
			lines += f.Lines
		}
		if offset = p.Next; offset == 0 {
			break
		}
	}
	t.Logf("first page %s, everything %s", took, time.Since(began))
	if files != 1000 || lines != 100_000 || first.Total != 1000 || took > 5*time.Second {
		t.Errorf("%d files, %d lines, first page after %s", files, lines, took)
	}
}

func TestFilesOfBothTreesAreRead(t *testing.T) {
	t.Parallel()
	repo := odd(t)
	b := newBench(t, repo, true)
	read := func(side Side, path string) (string, error) {
		text, err := ReadFile(t.Context(), b.st, b.dir, side, path)
		return string(text), err
	}
	for _, c := range []struct {
		side       Side
		path, want string
	}{{Base, "gone.txt", "one\ntwo\n"}, {Head, "with space", "a\nb"}, {Base, "with space", "a"}, {Head, "not\xff utf8", "GIT binary patch\n\x80\n"}} {
		if text, err := read(c.side, c.path); err != nil || text != c.want {
			t.Errorf("%s %q: %q, %v", c.side, c.path, text, err)
		}
	}
	link := (*gitdiff.NotFileError)(nil)
	if _, err := read(Head, "file-then-link"); !errors.As(err, &link) {
		t.Errorf("a link: %v", err)
	}
	for _, path := range []string{"gone.txt", "../x", "", "/etc/passwd", ".git/config", strings.Repeat("a/", 5000)} {
		if _, err := read(Head, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.40q: %v", path, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadFile(cancelled, b.st, b.dir, Head, "with space"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	gitdifftest.Must(t, os.Rename(repo.Dir, repo.Dir+".moved"))
	if _, err := read(Base, "gone.txt"); !errors.Is(err, ErrGone) {
		t.Errorf("a repository that is gone: %v", err)
	}
	if p := b.page(t, Query{}); len(p.Files) != 10 || len(p.Files[0].Hunks)+len(p.Files[1].Hunks)+len(p.Files[4].Hunks) == 0 {
		t.Error("the patch is shown without the repository")
	}
}

// What holds a secret is neither in a patch nor shown as a file.
func TestAChangeWithASecretIsNotShown(t *testing.T) {
	t.Parallel()
	b := newBench(t, odd(t), true)
	doc, err := b.dir.Result()
	if err != nil {
		t.Fatal(err)
	}
	var res document.Result
	gitdifftest.Must(t, json.Unmarshal(doc, &res))
	res.Git.Patch = ""
	doc, err = json.Marshal(res)
	if err := errors.Join(err, os.Remove(b.dir.PatchPath()), os.WriteFile(b.dir.ResultPath(), doc, 0o600)); err != nil {
		t.Fatal(err)
	}
	p := b.page(t, Query{Limit: 4})
	if len(p.Files) != 4 || p.Next != 4 || p.Note == "" || p.Files[0].Hunks != nil {
		t.Errorf("%+v", p)
	}
	if _, err := ReadFile(t.Context(), b.st, b.dir, Head, "plain.go"); !errors.Is(err, ErrWithheld) {
		t.Error(err)
	}
	if _, err := ReadFile(t.Context(), b.st, b.dir, Base, "plain.go"); err != nil {
		t.Error(err)
	}
}
