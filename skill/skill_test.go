package skill

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Claude Code reads a name and a description of bounded length, and loads all of the body at once.
func TestTheSkillIsWhatClaudeCodeReads(t *testing.T) {
	t.Parallel()
	text := string(Files("my-name", "")[0].Data)
	m := regexp.MustCompile(`(?s)^---\n(.*?)\n---\n(.*)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("no frontmatter")
	}
	field := func(name string) string {
		f := regexp.MustCompile(`(?m)^` + name + `: (.*)$`).FindStringSubmatch(m[1])
		if f == nil {
			t.Fatalf("no %s", name)
		}
		return f[1]
	}
	if field("name") != "my-name" || len([]rune(field("description"))) > 1024 || strings.Contains(field("description"), ": ") {
		t.Errorf("name %q, description of %d letters", field("name"), len([]rune(field("description"))))
	}
	for _, word := range []string{"Use when", "Do not use", "用于", "不用于"} {
		if !strings.Contains(field("description"), word) {
			t.Errorf("the description does not say %q", word)
		}
	}
	if lines := strings.Count(m[2], "\n"); lines > 200 {
		t.Errorf("the body has %d lines", lines)
	}
	for _, word := range []string{"DROID_FALLBACK", "bridge_failure", "invalid_input", "internal", "test_failure", "env_issue", "unclear_requirement", "conflict", "--detach", "--timeout 100"} {
		if !strings.Contains(m[2], word) {
			t.Errorf("the body does not name %s", word)
		}
	}
	if tools := field("allowed-tools"); strings.Contains(tools, "approvals") || strings.Contains(tools, "Bash(sandboxrun:*)") || strings.Contains(tools, "apply") {
		t.Errorf("allowed tools: %s", tools)
	}
}

func target(t *testing.T) (Target, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return Target{Root: root, Record: "s", Version: "1"}, dir
}

func states(t *testing.T, tg Target, want []File) map[string]State {
	t.Helper()
	entries, _, err := tg.Check(want)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]State{}
	for _, e := range entries {
		all[e.Path] = e.State
	}
	return all
}

func TestFilesOfAPersonAreKept(t *testing.T) {
	t.Parallel()
	tg, dir := target(t)
	old, now := []File{{"s/a", []byte("a1")}, {"s/b", []byte("b1")}, {"s/gone", []byte("g")}}, []File{{"s/a", []byte("a2")}, {"s/b", []byte("b2")}, {"s/d/c", []byte("c2")}}
	if err := tg.Install(old, false); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("s/mine.txt", "mine")
	put("s/b", "changed")
	if s := states(t, tg, now); s["s/a"] != Older || s["s/b"] != Changed || s["s/d/c"] != Missing || s["s/gone"] != Older {
		t.Errorf("%v", s)
	}
	bad := (*ChangedError)(nil)
	if err := tg.Install(now, false); !errors.As(err, &bad) || len(bad.Paths) != 1 {
		t.Fatalf("%v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "s/a")); string(text) != "a1" {
		t.Errorf("a refused installation wrote %q", text)
	}
	if err := tg.Remove(now, false); !errors.As(err, &bad) {
		t.Errorf("remove: %v", err)
	}
	put("s/b", "b1")
	if err := tg.Install(now, false); err != nil {
		t.Fatal(err)
	}
	for name, s := range states(t, tg, now) {
		if s != Current {
			t.Errorf("%s is %s", name, s)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "s/gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of the older version: %v", err)
	}
	if err := tg.Remove(now, false); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "s/*"))
	if len(left) != 1 || filepath.Base(left[0]) != "mine.txt" {
		t.Errorf("left: %v", left)
	}
}

func TestAnInstallationThatFailsLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	tg, dir := target(t)
	if err := tg.Install([]File{{"s/a", []byte("a1")}}, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "s/a.sandboxrun-old"), 0o700); err != nil { // the rename of the second file fails
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "s", recordName))
	if err := tg.Install([]File{{"s/n/b", []byte("b2")}, {"s/a", []byte("a2")}}, false); err == nil {
		t.Fatal("it did not fail")
	}
	after, _ := os.ReadFile(filepath.Join(dir, "s", recordName))
	a, _ := os.ReadFile(filepath.Join(dir, "s/a"))
	if string(a) != "a1" || string(after) != string(before) {
		t.Errorf("a is %q, the record %s", a, after)
	}
	if _, err := os.Stat(filepath.Join(dir, "s/n")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory is left: %v", err)
	}
}

// The place may be a strange repository: nothing outside of it is written, and its record cannot have files removed.
func TestAStrangePlaceCannotMisleadTheInstallation(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tg, dir := target(t)
	if err := os.Symlink(outside, filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	if err := tg.Install([]File{{"s/a", []byte("x")}}, true); err == nil {
		t.Error("it went through a link")
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("outside: %v", left)
	}
	tg, dir = target(t)
	if err := os.MkdirAll(filepath.Join(dir, "s"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.go", "s/a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(record{Version: "0", Files: map[string]string{"main.go": sum([]byte("theirs")), "../x": "1", "s/../main.go": sum([]byte("theirs"))}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "s", recordName), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := tg.Install([]File{{"s/b", []byte("x")}}, false); err != nil {
		t.Error(err)
	}
	if err := tg.Remove([]File{{"s/b", []byte("x")}}, false); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"main.go", "s/a"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
