package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/runner/endpoint"
)

// A run of a terminal is followed through the server, which is killed and started again meanwhile: no event is lost or
// repeated, and the run does not notice.
func TestRunIsFollowedOverARestartOfTheServer(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	s := rig.serve()
	addr := strings.TrimPrefix(s.url, "http://")
	task, err := json.Marshal(repo.task("for i in $(seq 60); do echo line $i; sleep 0.1; done", mend))
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan outcome, 1)
	go func() { ran <- rig.run(task, "execute", "--quiet", "-") }()
	run := s.firstRun()
	followed := make(chan outcome, 1)
	go func() { followed <- rig.run(nil, "runs", "logs", "--raw", "--follow", "--server", s.url, run) }()
	s.stop(syscall.SIGKILL)
	s = rig.serve("--addr", addr)
	res, got := <-ran, <-followed
	if res.exit != 0 {
		t.Fatalf("the run: exit %d: %s", res.exit, res.stderr)
	}
	journal, err := os.ReadFile(filepath.Join(rig.state, "runs", run, "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if got.exit != 0 || !bytes.Equal(got.stdout, journal) {
		t.Errorf("followed: exit %d, %d bytes of %d: %s", got.exit, len(got.stdout), len(journal), got.stderr)
	}
	if o := rig.run(nil, "runs", "logs", "--raw", "--server", "auto", run); o.exit != 0 || !bytes.Equal(o.stdout, journal) {
		t.Errorf("read: exit %d, %d bytes of %d: %s", o.exit, len(o.stdout), len(journal), o.stderr)
	}
	status, body := s.get("/api/runs/" + run)
	var detail struct {
		State  string          `json:"state"`
		Branch string          `json:"branch"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(body, &detail); err != nil || status != 200 || detail.State != "ended" || detail.Branch == "" || len(detail.Result) == 0 {
		t.Errorf("%d %s", status, body)
	}
	patch := rig.run(nil, "runs", "diff", run).stdout
	if _, body := s.get("/api/runs/" + run + "/diff"); !bytes.Equal(body, patch) || len(patch) == 0 {
		t.Errorf("the patch differs: %s", body)
	}
}

// A box has no way to the server, whatever it calls it.
func TestBoxesCannotReachTheServer(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	s := rig.serve()
	port := s.url[strings.LastIndexByte(s.url, ':')+1:]
	script := `for h in 127.0.0.1 localhost host.docker.internal 172.17.0.1 ::1; do
  timeout 3 bash -c "exec 3<>/dev/tcp/$h/` + port + ` && printf 'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3 && head -1 <&3 | grep HTTP" && echo "reached $h" >> reached
done; true`
	res, _ := rig.execute(repo.task(script))
	if len(res.FilesChanged) > 0 {
		t.Errorf("a box reached the server: %+v", res.FilesChanged)
	}
	if _, metrics := s.get("/metrics"); bytes.Contains(metrics, []byte(`route="GET /healthz"`)) {
		t.Error("the server was called")
	}
}

func TestServersThatAreNotThereAreBridgeFailures(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	const run = "01arz3ndektsv4rrffq69g5fav"
	expect := func(name string, exit int, words string, args ...string) {
		t.Helper()
		o := rig.run(nil, append([]string{"runs", "logs", run}, args...)...)
		if o.exit != exit || !strings.Contains(string(o.stderr), words) {
			t.Errorf("%s: exit %d, want %d with %q: %s", name, o.exit, exit, words, o.stderr)
		}
	}
	expect("none", 5, "no server runs", "--server", "auto")
	s := rig.serve()
	expect("unknown run", 2, "no run of this id", "--server", "auto")
	expect("plain text over the network", 2, "plain text", "--server", "http://192.0.2.1:7311")
	expect("path", 2, "nothing but", "--server", s.url+"/api")
	expect("no URL", 2, "is no URL", "--server", "nowhere")
	if err := os.WriteFile(filepath.Join(rig.state, "token"), []byte(strings.Repeat("0", 64)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("another token", 5, "refuses this caller", "--server", "auto")
	s.stop(syscall.SIGKILL)
	if _, err := endpoint.Find(rig.state); err != nil {
		t.Fatal(err)
	}
	expect("killed", 5, "does not answer", "--server", "auto")
}
