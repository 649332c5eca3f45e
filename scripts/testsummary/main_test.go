package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/internal/testenv"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// module writes a module of one package made of source.
func module(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\ngo 1.21\n", "m_test.go": "package m\n" + source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goTest is the command that tests the module in dir, on its own.
func goTest(dir string, words ...string) []string {
	return append([]string{"env", "-C", dir, "GOWORK=off", "GOFLAGS=-mod=mod", "go", "test", "-json"}, words...)
}

func TestSummaryOfRealRuns(t *testing.T) {
	t.Parallel()
	testenv.NeedsTime(t, "runs the go command many times")
	const head = "import \"testing\"\n"
	for name, tc := range map[string]struct {
		source string
		ok     bool
		counts string
		says   []string
	}{
		"all passed": {
			head + `func TestA(t *testing.T) { t.Run("x", func(*testing.T) {}); t.Run("y", func(*testing.T) {}) }
			func TestB(*testing.T) {}`,
			true, "3 passed, 0 failed, 0 skipped",
			[]string{"ok   m: 3 passed"},
		},
		"skip with its reason": {
			head + `func TestA(t *testing.T) { t.Skip("no engine here") }
			func TestB(*testing.T) {}`,
			true, "1 passed, 0 failed, 1 skipped",
			[]string{"m.TestA: m_test.go:3: no engine here"},
		},
		"failed subtest counts once": {
			head + `func TestA(t *testing.T) { t.Run("x", func(t *testing.T) { t.Error("because") }) }`,
			false, "0 passed, 1 failed, 0 skipped",
			[]string{"because", "  m.TestA/x\n"},
		},
		"parent that fails by itself": {
			head + `func TestA(t *testing.T) { t.Run("x", func(*testing.T) {}); t.Error("afterwards") }`,
			false, "1 passed, 1 failed, 0 skipped",
			[]string{"afterwards", "  m.TestA\n"},
		},
		"package that does not build": {
			`func TestA(`,
			false, "0 passed, 1 failed, 0 skipped",
			[]string{"m_test.go:2", "(the package itself)"},
		},
		"TestMain that fails": {
			"import (\"os\"; \"testing\")\n" + `func TestMain(m *testing.M) { m.Run(); println("leaked"); os.Exit(1) }
			func TestA(*testing.T) {}`,
			false, "1 passed, 1 failed, 0 skipped",
			[]string{"leaked", "(the package itself)"},
		},
		"panic":     {head + `func TestA(*testing.T) { panic("boom") }`, false, "0 passed, 1 failed, 0 skipped", []string{"boom"}},
		"no test":   {"", false, "0 passed, 0 failed, 0 skipped", nil},
		"all skips": {head + `func TestA(t *testing.T) { t.Skip() }`, false, "0 passed, 0 failed, 1 skipped", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told bytes.Buffer
			ok, err := summarize(&told, "", 0, goTest(module(t, tc.source), "--", "./..."))
			if ok != tc.ok || err != nil {
				t.Errorf("ok = %t, err = %v, want %t", ok, err, tc.ok)
			}
			out := told.String()
			if !strings.HasSuffix(out, "\n"+tc.counts+"\n") {
				t.Errorf("output does not end with %q alone on a line", tc.counts)
			}
			for _, want := range tc.says {
				if !strings.Contains(out, want) {
					t.Errorf("output does not say %q", want)
				}
			}
			if t.Failed() {
				t.Logf("output:\n%s", out)
			}
		})
	}
}

// told is what the report says of events, and whether every test passed.
func told(events string) (string, bool, error) {
	var out bytes.Buffer
	s := newReport(&out)
	err := read(s, strings.NewReader(events), nil)
	ok := s.end()
	return out.String(), ok, err
}

func TestSummaryNamesTheSlowestAndJoinsChosenSkips(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for i := range 12 {
		fmt.Fprintf(&in, `{"Action":"pass","Package":"m","Test":"Test%d","Elapsed":%d}`+"\n", i, i)
	}
	for _, name := range []string{"TestX", "TestY"} {
		fmt.Fprintf(&in, `{"Action":"output","Package":"m","Test":%q,"Output":"    m_test.go:3: boots a kernel: left out by -short\n"}`+"\n", name)
		fmt.Fprintf(&in, `{"Action":"skip","Package":"m","Test":%q}`+"\n", name)
	}
	in.WriteString(`{"Action":"pass","Package":"m"}` + "\n")
	out, ok, err := told(in.String())
	if !ok || err != nil {
		t.Fatalf("ok = %t, err = %v", ok, err)
	}
	for _, want := range []string{"slowest:\n    11.0 s  m.Test11\n", "2 tests: boots a kernel: left out by -short\n", "12 passed, 0 failed, 2 skipped\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "m.Test1\n") {
		t.Errorf("more than the ten slowest are named:\n%s", out)
	}
}

func TestSummaryOfACutStreamFails(t *testing.T) {
	t.Parallel()
	events := `{"Action":"start","Package":"m"}
{"Action":"run","Package":"m","Test":"TestA"}
`
	out, ok, err := told(events)
	if ok || err != nil || !strings.Contains(out, "m.TestA (did not finish)") {
		t.Errorf("ok = %t, err = %v, output:\n%s", ok, err, out)
	}
}

func TestAliveNamesWhatIsRunning(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newReport(&out)
	s.start = time.Now().Add(-time.Minute)
	s.alive()
	s.line([]byte(`{"Action":"start","Package":"m"}`))
	s.line([]byte(`{"Action":"pass","Package":"m","Test":"TestA"}`))
	s.alive()
	if got, want := out.String(), "…    60 s: compiling\n…    60 s: m (1)\n"; got != want {
		t.Errorf("alive printed %q, want %q", got, want)
	}
}
