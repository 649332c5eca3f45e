package render

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/runner/document"
)

func TestNextSaysWhatCanBeDone(t *testing.T) {
	t.Parallel()
	changed := []document.FileChange{{Path: "a"}}
	for name, tt := range map[string]struct {
		res         document.Result
		has, hasNot []string
	}{
		"landed": {document.Result{RunID: "r", Status: document.StatusSuccess, FilesChanged: changed, Git: document.GitResult{Branch: "sandboxrun/t", Patch: "/p"}},
			[]string{"runs diff r", "git -C '/my repo' merge sandboxrun/t", "apply r", "branch -D sandboxrun/t"}, []string{"logs"}},
		"not landed": {document.Result{RunID: "r", Status: document.StatusPartial, FilesChanged: changed, Git: document.GitResult{Patch: "/p"}},
			[]string{"runs diff r", "apply r", "runs logs r"}, []string{"merge", "branch -D"}},
		"nothing changed": {document.Result{RunID: "r", Status: document.StatusSuccess}, nil, []string{"next"}},
		"a secret":        {document.Result{RunID: "r", Status: document.StatusFailed, FilesChanged: changed}, []string{"runs logs r"}, []string{"apply r"}},
	} {
		var out bytes.Buffer
		if err := WriteNext(&out, Terminal{}, &tt.res, "/my repo"); err != nil {
			t.Fatal(err)
		}
		for _, part := range tt.has {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %q in\n%s", name, part, out.String())
			}
		}
		for _, part := range tt.hasNot {
			if strings.Contains(out.String(), part) {
				t.Errorf("%s: %q in\n%s", name, part, out.String())
			}
		}
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	row := [][]string{{"short", strings.Repeat("x", 100)}}
	var narrow, pipe bytes.Buffer
	if err := errors.Join(TableFor(&narrow, Terminal{IsTTY: true, width: 40}, []string{"A", "B"}, row), TableFor(&pipe, Terminal{}, []string{"A", "B"}, row)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(narrow.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 39 {
			t.Errorf("a line of %d columns", n)
		}
	}
	if !strings.Contains(pipe.String(), row[0][1]) {
		t.Error("a pipe gets less than everything")
	}
}

func TestPagerIsTheUsersAndItsEarlyEndIsNoError(t *testing.T) {
	t.Parallel()
	show := func(pager string, term Terminal, write func(io.Writer) error) (string, error) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "out")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		err = Page(t.Context(), f, term, func(string) string { return pager }, write)
		if cerr := f.Close(); cerr != nil {
			t.Fatal(cerr)
		}
		text, rerr := os.ReadFile(name)
		if rerr != nil {
			t.Fatal(rerr)
		}
		return string(text), err
	}
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello\n"); return err }
	for _, tt := range []struct {
		pager string
		tty   bool
		want  string
	}{
		{"sed s/hello/paged/", true, "paged\n"}, {"sed s/hello/paged/", false, "hello\n"}, {"cat", true, "hello\n"}, {"no-such-pager", true, "hello\n"},
	} {
		if got, err := show(tt.pager, Terminal{IsTTY: tt.tty}, hello); got != tt.want || err != nil {
			t.Errorf("%s: %q, %v", tt.pager, got, err)
		}
	}
	endless := func(w io.Writer) error {
		for {
			if err := hello(w); err != nil {
				return err
			}
		}
	}
	if got, err := show("head -n 1", Terminal{IsTTY: true}, endless); got != "hello\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := Page(t.Context(), io.Discard, Terminal{}, os.Getenv, func(io.Writer) error { return syscall.ENOSPC }); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("another error is lost: %v", err)
	}
}
