package agents_test

import (
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/agents"
)

func TestAvailabilityIsWhatTheHostShows(t *testing.T) {
	t.Parallel()
	info := agents.Info{Binary: "prog", Secrets: []string{"PROG_KEY"}, Logins: []string{".prog/auth.json"}, Traces: []string{".prog"}}
	look := func(home string, env map[string]string, installed bool) agents.Availability {
		return agents.Available(info, home, func(n string) string { return env[n] }, func(string) bool { return installed })
	}
	empty := t.TempDir()
	if a := look(empty, nil, false); a.Status != agents.NotFound || a.LastLogin != nil || a.ConfigFound {
		t.Errorf("nothing there: %+v", a)
	}
	if a := look(empty, nil, true); a.Status != agents.InstallationFound {
		t.Errorf("program on PATH: %+v", a)
	}
	if a := look(empty, map[string]string{"PROG_KEY": "k"}, false); a.Status != agents.LoginDetected || a.LastLogin != nil {
		t.Errorf("key in the environment: %+v", a)
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".prog"), 0o700); err != nil {
		t.Fatal(err)
	}
	if a := look(home, nil, false); a.Status != agents.InstallationFound || !a.ConfigFound {
		t.Errorf("files of the program: %+v", a)
	}
	if err := os.WriteFile(filepath.Join(home, ".prog/auth.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := look(home, nil, false); a.Status != agents.LoginDetected || a.LastLogin == nil {
		t.Errorf("a login: %+v", a)
	}
}
