package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/runner/endpoint"
)

// served is a running server of a rig.
type served struct {
	rig     *rig
	cmd     *exec.Cmd
	url     string
	token   string
	log     *os.File
	took    time.Duration // until it was ready
	stopped bool
}

// serve starts the real server on a free port and waits for the message that pm2 waits for.
func (r *rig) serve(flags ...string) *served {
	r.t.Helper()
	channel, child, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	s := &served{rig: r}
	if s.log, err = os.CreateTemp(r.t.TempDir(), "log"); err != nil {
		r.t.Fatal(err)
	}
	s.cmd = r.command(append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	s.cmd.Env = append(s.cmd.Env, "NODE_CHANNEL_FD=3", "NODE_CHANNEL_SERIALIZATION_MODE=json")
	s.cmd.ExtraFiles, s.cmd.Stderr = []*os.File{child}, s.log
	began := time.Now()
	if err := errors.Join(s.cmd.Start(), child.Close()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.stop(syscall.SIGKILL) })
	line, err := bufio.NewReader(channel).ReadString('\n')
	_ = channel.Close()
	if line != "\"ready\"\n" {
		r.t.Fatalf("the server said %q (%v) instead of ready:\n%s", line, err, s.logged())
	}
	s.took = time.Since(began)
	e, err := endpoint.Find(r.state)
	if err != nil {
		r.t.Fatal(err)
	}
	if s.token, err = endpoint.Token(r.state); err != nil {
		r.t.Fatal(err)
	}
	s.url = e.URL
	return s
}

func (s *served) logged() string {
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		s.rig.t.Fatal(err)
	}
	return string(text)
}

// stop sends a signal and returns the exit code, -1 after SIGKILL.
func (s *served) stop(sig syscall.Signal) int {
	if s.stopped {
		return s.cmd.ProcessState.ExitCode()
	}
	s.stopped = true
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.rig.t.Errorf("stop the server: %v", err)
	}
	_ = s.cmd.Wait() // the exit code tells
	return s.cmd.ProcessState.ExitCode()
}

// get sends a request with the token and returns status and body.
func (s *served) get(path string) (int, []byte) {
	s.rig.t.Helper()
	return s.send(http.MethodGet, path, "")
}

func (s *served) send(method, path, body string, header ...string) (int, []byte) {
	s.rig.t.Helper()
	req, err := http.NewRequestWithContext(s.rig.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.rig.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		s.rig.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.rig.t.Fatal(err)
	}
	return res.StatusCode, text
}

func TestServe(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	s := rig.serve()
	t.Logf("ready after %s", s.took)
	if status, body := s.get("/readyz"); status != 200 {
		t.Errorf("not ready: %d %s", status, body)
	}
	link := rig.run(nil, "open")
	at, code, ok := strings.Cut(strings.TrimSpace(string(link.stdout)), "/#code=")
	if status, body := s.post("/api/login", `{"code":"`+code+`"}`); link.exit != 0 || !ok || at != s.url || status != 200 || !bytes.Contains(body, []byte(`"token"`)) {
		t.Errorf("open: exit %d, %s%s, then %d %s", link.exit, link.stdout, link.stderr, status, body)
	}
	if o := rig.run(nil, "serve", "--addr", "127.0.0.1:0"); o.exit != 2 || !strings.Contains(string(o.stderr), "already uses the state directory") {
		t.Errorf("a second server: exit %d: %s", o.exit, o.stderr)
	}
	if fi, err := os.Stat(filepath.Join(rig.state, "serve.json")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("serve.json: %v %v", fi, err)
	}
	// Killed, it leaves its announcement; the next one replaces it and keeps the token.
	s.stop(syscall.SIGKILL)
	again := rig.serve()
	if again.token != s.token {
		t.Error("the token changed")
	}
	began := time.Now()
	if code := again.stop(syscall.SIGINT); code != 0 || time.Since(began) > 2*time.Second {
		t.Errorf("stopped with %d after %s: %s", code, time.Since(began), again.logged())
	}
	if _, err := os.Stat(filepath.Join(rig.state, "serve.json")); !os.IsNotExist(err) {
		t.Errorf("serve.json is still there: %v", err)
	}
	for line := range strings.Lines(again.logged()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is no JSON: %s", line)
		}
	}
	if renewed := rig.serve("--new-token"); renewed.token == s.token {
		t.Error("--new-token kept the token")
	} else if _, pages := renewed.get("/api/web-sessions"); strings.TrimSpace(string(pages)) != "[]" {
		t.Errorf("--new-token left pages signed in: %s", pages)
	} else if code := renewed.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("stopped with %d", code)
	}
}

// A wrong choice is an error of input, which supervisors do not try again, and nothing listens.
func TestServeRefusesWhatWouldBeUnsafe(t *testing.T) {
	t.Parallel()
	owner := newRig(t)
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	busy := owner.serve()
	busyAddr := strings.TrimPrefix(busy.url, "http://")
	other := newRig(t)
	for name, c := range map[string]struct {
		rig  *rig
		args []string
		want string
	}{
		"every address":    {other, []string{"--addr", "0.0.0.0:0"}, "TLS"},
		"every address v6": {other, []string{"--addr", "[::]:0"}, "TLS"},
		"no port":          {other, []string{"--addr", "127.0.0.1"}, "--addr"},
		"a name":           {other, []string{"--addr", "example.org:80"}, "--addr"},
		"port in use":      {other, []string{"--addr", busyAddr}, "listen"},
		"half of TLS":      {other, []string{"--tls-cert", "x"}, "belong together"},
		"no certificate":   {other, []string{"--tls-cert", "/none", "--tls-key", "/none"}, "certificate"},
		"relative socket":  {other, []string{"--addr", "127.0.0.1:0", "--socket", "s"}, "absolute"},
		"open directory":   {other, []string{"--addr", "127.0.0.1:0", "--socket", filepath.Join(open, "s")}, "0700"},
		"an argument":      {other, []string{"now"}, "argument"},
		"unknown file":     {other, []string{"--print", "launchd"}, "pm2 or systemd"},
	} {
		o := c.rig.run(nil, append([]string{"serve"}, c.args...)...)
		if o.exit != 2 || !strings.Contains(string(o.stderr), c.want) {
			t.Errorf("%s: exit %d: %s", name, o.exit, o.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(other.state, "serve.json")); !os.IsNotExist(err) {
		t.Errorf("a refused server announced itself: %v", err)
	}
	other.config["serve"] = map[string]any{"addr": "127.0.0.1:99999"}
	if o := other.run(nil, "serve"); o.exit != 2 || !strings.Contains(string(o.stderr), "/serve/addr") {
		t.Errorf("configuration: exit %d: %s", o.exit, o.stderr)
	}
}

func TestFilesOfSupervisorsArePrinted(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	for name, want := range map[string]string{"pm2": `interpreter: "none"`, "systemd": "KillMode=process"} {
		if o := rig.run(nil, "serve", "--print", name); o.exit != 0 || !bytes.Contains(o.stdout, []byte(want)) {
			t.Errorf("%s: exit %d: %s", name, o.exit, o.stdout)
		}
	}
}
