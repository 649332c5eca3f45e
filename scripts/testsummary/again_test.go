package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
)

// unlucky has tests that fail at the first try of them: FIRST names a file that is made by it.
const unlucky = `
import ("os"; "testing"; "time")
func first() bool {
	f, err := os.OpenFile(os.Getenv("FIRST"), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil { f.Close() }
	return err == nil
}
func TestGood(*testing.T) {}
func TestOnce(t *testing.T) { t.Run("x", func(t *testing.T) { if first() { t.Error("bad luck") } }); t.Run("y", func(*testing.T) {}) }
func TestAlways(t *testing.T) { t.Error("for a reason") }
func TestSkipsThen(t *testing.T) { if !first() { t.Skip("not now") }; t.Error("bad luck") }
func TestGoneThen(t *testing.T) { t.Run("y", func(*testing.T) {}); if first() { t.Run("x", func(t *testing.T) { t.Error("bad luck") }) } }
func TestPanics(*testing.T) { if first() { panic("boom") } }
func TestExits(*testing.T) { if first() { os.Exit(1) } }
func TestHangs(*testing.T) { if first() { time.Sleep(time.Hour) } }
func TestRaces(*testing.T) {
	done, n := make(chan bool), 0
	if first() { go func() { n++; done <- true }(); n++; <-done }
}
`

func TestASecondTryAlone(t *testing.T) {
	t.Parallel()
	testenv.NeedsTime(t, "runs the go command many times")
	dir := module(t, unlucky)
	if err := os.Mkdir(filepath.Join(dir, "broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken", "b_test.go"), []byte("package broken\nfunc TestB("), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		run, pkg string
		flags    []string
		most     int
		ok       bool
		tries    int
		counts   string
		says     string
	}{
		"passes alone":                  {run: "Good|Once", most: 1, ok: true, tries: 1, counts: "2 passed, 0 failed, 0 skipped", says: "FAILED ONCE, PASSED ALONE:\n  m.TestOnce/x\n"},
		"fails again":                   {run: "Always", most: 3, tries: 1, counts: "0 passed, 1 failed, 0 skipped", says: "FAILED:\n  m.TestAlways\n"},
		"one of two passes alone":       {run: "Once|Always", most: 3, tries: 2, counts: "1 passed, 1 failed, 0 skipped", says: "PASSED ALONE:\n  m.TestOnce/x\n"},
		"more than may fail":            {run: "Once|Always", most: 1, counts: "1 passed, 2 failed, 0 skipped", says: "  m.TestOnce/x\n"},
		"no second try is asked for":    {run: "Once", counts: "1 passed, 1 failed, 0 skipped", says: "FAILED:\n  m.TestOnce/x\n"},
		"skipped the second time":       {run: "SkipsThen", most: 3, tries: 1, counts: "0 passed, 1 failed, 0 skipped", says: "FAILED:\n  m.TestSkipsThen\n"},
		"not there the second time":     {run: "GoneThen", most: 3, tries: 1, counts: "1 passed, 1 failed, 0 skipped", says: "FAILED:\n  m.TestGoneThen/x\n"},
		"panicked":                      {run: "Panics", most: 3, counts: "0 passed, 1 failed, 0 skipped", says: "boom"},
		"ended the program":             {run: "Exits", most: 3, counts: "0 passed, 1 failed, 0 skipped", says: "m.TestExits (did not finish)"},
		"timed out":                     {run: "Hangs", flags: []string{"-timeout=1s"}, most: 3, counts: "0 passed, 1 failed, 0 skipped", says: "m.TestHangs"},
		"the race detector says why":    {run: "Races", flags: []string{"-race"}, most: 3, counts: "0 passed, 1 failed, 0 skipped", says: "DATA RACE"},
		"next to one that cannot build": {run: "Once", pkg: "./...", most: 3, counts: "1 passed, 2 failed, 0 skipped", says: "m/broken (the package itself)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told bytes.Buffer
			command := goTest(dir, append(tc.flags, "-count=1", "--", "-run", "^Test("+tc.run+")$", "./"+strings.TrimPrefix(tc.pkg, "./"))...)
			command = append([]string{"env", "CGO_ENABLED=1", "FIRST=" + filepath.Join(t.TempDir(), "first")}, command...)
			events := filepath.Join(t.TempDir(), "events")
			ok, err := summarize(&told, events, tc.most, command)
			if ok != tc.ok || err != nil {
				t.Errorf("ok = %t, err = %v, want %t", ok, err, tc.ok)
			}
			out := told.String()
			if n := strings.Count(out, "once more, alone: "); n != tc.tries {
				t.Errorf("%d second tries, want %d", n, tc.tries)
			}
			if !strings.HasSuffix(out, "\n"+tc.counts+"\n") || !strings.Contains(out, tc.says) {
				t.Errorf("output does not say %q, or does not end with %q", tc.says, tc.counts)
			}
			kept, err := os.ReadFile(events)
			if n := bytes.Count(kept, []byte(`"Action":"start"`)); err != nil || tc.pkg == "" && n != 1+tc.tries {
				t.Errorf("events of %d packages were kept, want those of every try: %v", n, err)
			}
			if t.Failed() {
				t.Logf("output:\n%s", out)
			}
		})
	}
}

func TestACommandThatFailsWithoutAFailedTest(t *testing.T) {
	t.Parallel()
	const passed = `echo '{"Action":"pass","Package":"m","Test":"TestA"}'; echo '{"Action":"pass","Package":"m"}'; `
	const failed = `echo '{"Action":"fail","Package":"n","Test":"TestB"}'; echo '{"Action":"fail","Package":"n"}'; `
	for _, script := range []string{passed + "exit 1", passed + failed + "exit 2", passed + "kill -9 $$"} {
		var told bytes.Buffer
		if ok, err := summarize(&told, "", 3, []string{"sh", "-c", script}); ok || err == nil {
			t.Errorf("%s: ok = %t, err = %v", script, ok, err)
		}
	}
}
