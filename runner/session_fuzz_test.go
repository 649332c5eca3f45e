package runner

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sandboxrun/sandbox"
)

// saying is a box whose every command prints the same.
type saying struct{ out []byte }

func (s saying) Exec(_ context.Context, c sandbox.Command) (sandbox.Exit, error) {
	for p := s.out; len(p) > 0; {
		n := min(7, len(p))
		if _, err := c.Stdout.Write(p[:n]); err != nil {
			return sandbox.Exit{}, err
		}
		p = p[n:]
	}
	return sandbox.Exit{}, nil
}

func (saying) Stdio() io.ReadWriteCloser   { return nil }
func (saying) Close(context.Context) error { return nil }

// FuzzKeptPaths lets a box say anything about which files of a conversation it
// has: what is packed is among what the agent keeps, each once.
func FuzzKeptPaths(f *testing.F) {
	keep := []string{".claude/projects", ".claude.json", ".local/share/x y"}
	for _, s := range []string{"", ".claude.json\n", ".claude.json\n.claude.json\n../../etc\n/etc/passwd\n--checkpoint-action=exec=sh\n", ".local/share/x y", "\x00\n.claude/projects\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		x := &run{box: &box{Sandbox: saying{said}}}
		paths, err := x.keptPaths(t.Context(), keep)
		if (err != nil) != (len(said) > maxBoxWords) {
			t.Errorf("%d bytes: %v", len(said), err)
		}
		if !slices.Equal(paths, slices.DeleteFunc(slices.Clone(keep), func(p string) bool { return !slices.Contains(paths, p) })) {
			t.Errorf("%q are not among %q in order", paths, keep)
		}
	})
}

// FuzzSession reads a session file of any content: the session is listed or
// called damaged, and clearing up after it touches nothing that is not its own.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		"", "{", `{"schema_version":"1.0","id":"s"}`, `{"schema_version":"1.0","id":"../s"}`,
		`{"schema_version":"1.0","id":"s","runs":[{"run_id":"r","conversation":{"run_id":"../../canary","paths":["/"],"bytes":-9}}]}`,
		`{"schema_version":"1.0","id":"s","runs":[{"conversation":{"run_id":"kept","bytes":9223372036854775807}},{"conversation":{"run_id":"b","bytes":1}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		st, err := OpenState(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		canaries := []string{filepath.Join(st.Dir(), "canary.tar"), filepath.Join(st.sessionsDir(), "canary.tar"), filepath.Join(st.sessionHome("other"), "kept.tar")}
		for _, path := range append(canaries, filepath.Join(st.sessionHome("s"), "kept.tar"), st.sessionLock("s"), st.sessionFile("s")) {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, doc, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list, err := st.Sessions()
		if err != nil || len(list) != 1 || list[0].ID != "s" {
			t.Errorf("listed %+v, %v", list, err)
		}
		if _, err := st.Session("s"); err == nil && list[0].Status == SessionDamaged {
			t.Error("damaged, and it can be read")
		}
		if err := st.sweepSessions(t.Context()); err != nil {
			t.Logf("clear up: %v", err)
		}
		for _, path := range canaries[:2] {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("gone: %v", err)
			}
		}
	})
}
