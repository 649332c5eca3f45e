package harness

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyGoTestIsRecorded(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"test ./...":                      "test -json ./...",
		"test":                            "test -json",
		"-C sub test -run X -v .":         "-C sub test -json -run X -v .",
		"-C=sub test .":                   "-C=sub test -json .",
		"test . -args -json":              "test -json . -args -json",
		"test -json ./...":                "",
		"test --json ./...":               "",
		"test -c":                         "",
		"test -list=.":                    "",
		"vet ./...":                       "",
		"run . test":                      "",
		"build test":                      "",
		"tool test2json":                  "",
		"":                                "",
		"test -count=1 -v=true -race ./x": "test -json -count=1 -v=true -race ./x",
	} {
		got, verbose := withJSON(strings.Fields(args))
		if strings.Join(got, " ") != want {
			t.Errorf("go %s: %q, want %q", args, got, want)
		}
		if want != "" && verbose != strings.Contains(args, "-v") {
			t.Errorf("go %s: verbose %t", args, verbose)
		}
	}
}

// What go test reports of real packages becomes lines of a report, and the screen shows what it would have shown.
func TestEventsOfGoTest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module m\n\ngo 1.24\n",
		"a/a_test.go":    "package a\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {}\nfunc TestTwo(t *testing.T) { t.Run(\"in\", func(t *testing.T) { t.Fatal(\"why\") }) }\nfunc TestNo(t *testing.T) { t.Skip() }\n",
		"b/b_test.go":    "package b\n\nfunc f() { g() }\n",
		"c/c.go":         "package c\n",
		"d/d_test.go":    "package d\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(0) }\nfunc TestRed(t *testing.T) { t.Error(\"x\") }\n",
		"e/e_test.go":    "package e\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc init() { os.Exit(3) }\nfunc TestNever(t *testing.T) {}\n",
		"z/long_test.go": "package z\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc TestLong(t *testing.T) { fmt.Println(strings.Repeat(\"x\", 3<<20)) }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	events, _ := cmd.Output() // it is red
	var lines, screen bytes.Buffer
	g := &goEvents{lines: json.NewEncoder(&lines), screen: &screen, said: map[string]string{}, red: map[string]bool{}}
	g.copy(bytes.NewReader(events))
	g.put(Line{Event: End})
	r := ReadReport(lines.Bytes())
	states := map[string]State{}
	for name, res := range merge(r.Tests, r.Units) {
		states[name] = res.State
	}
	want := map[string]State{"m/a > TestOne": Passed, "m/a > TestTwo": Failed, "m/a > TestTwo/in": Failed, "m/a > TestNo": Skipped, "m/b": Failed, "m/d > TestRed": Failed, "m/e": Failed, "m/z > TestLong": Passed}
	if d := cmp.Diff(want, states); d != "" || !r.Whole() {
		t.Errorf("whole %t (-want +got):\n%s", r.Whole(), d)
	}
	if b := r.Units["m/b"]; !b.Build || !strings.Contains(b.Why, "undefined: g") {
		t.Errorf("a package that cannot be built: %+v", b)
	}
	if why := r.Tests["m/a > TestTwo/in"].Why; !strings.Contains(why, "why") {
		t.Errorf("a failure without its reason: %q", why)
	}
	for _, part := range []string{"FAIL\tm/a", "undefined: g", "--- FAIL: TestTwo/in", "?   \tm/c\t[no test files]"} {
		if !strings.Contains(screen.String(), part) {
			t.Errorf("the screen lacks %q:\n%.3000s", part, screen.String())
		}
	}
	if strings.Contains(screen.String(), "=== RUN") || strings.Contains(screen.String(), "TestOne") {
		t.Errorf("the screen shows more than go test does:\n%.3000s", screen.String())
	}
}
