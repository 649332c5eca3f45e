package e2e

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/runner"
	"sandboxrun/sandbox/sandboxtest"
)

// daemonImage is what boxes of an engine of the test's own run in.
const daemonImage = "debian:bookworm-slim"

// daemon is an engine of the test's own, which it may stop and kill.
type daemon struct {
	t    *testing.T
	dir  string // of its sockets and logs
	root string // of its images and containers
	cmd  *exec.Cmd

	ended chan struct{} // closed when cmd has ended
}

// newDaemon starts an engine with the base image and skips, loudly, where none
// can be started.
func newDaemon(t *testing.T, root string) *daemon {
	t.Helper()
	path, err := exec.LookPath("dockerd")
	if err != nil || os.Getuid() != 0 {
		t.Skipf("no engine of the test's own: needs root and the program dockerd (%v)", err)
	}
	needEngine(t, daemonImage)
	dir, err := os.MkdirTemp("", "dd") //nolint:usetesting // the path of a unix socket may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, dir: dir, root: root}
	if root == "" {
		d.root = filepath.Join(dir, "root")
	}
	t.Cleanup(d.remove)
	d.start(path)
	d.load()
	return d
}

func (d *daemon) host() string { return "unix://" + filepath.Join(d.dir, "s") }

// start starts the engine and waits until it answers. A busy machine may need
// more than one attempt: the engine gives its own parts 15 seconds to come up.
func (d *daemon) start(path string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "none.json"), []byte("{}"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	for range 3 {
		if d.attempt(path) {
			return
		}
	}
	text, _ := os.ReadFile(filepath.Join(d.dir, "log"))
	d.t.Skipf("no engine of the test's own can start here: %s", text[max(0, len(text)-1000):])
}

func (d *daemon) attempt(path string) bool {
	d.t.Helper()
	log, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	d.cmd = exec.Command(path, "--host", d.host(), "--data-root", d.root, "--exec-root", filepath.Join(d.dir, "exec"),
		"--pidfile", filepath.Join(d.dir, "pid"), "--config-file", filepath.Join(d.dir, "none.json"),
		"--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-masq=false")
	d.cmd.Stdout, d.cmd.Stderr = log, log
	// An engine without a bridge removes the one it finds, which is that of the machine's own engine.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.ended = make(chan struct{})
	go func() {
		defer close(d.ended)
		_ = d.cmd.Wait() // however it ends
	}()
	limit := time.After(40 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !d.answers() {
		select {
		case <-tick.C:
		case <-d.ended:
			return false
		case <-limit:
			d.kill()
			return false
		}
	}
	return true
}

// answers says whether the engine is up.
func (d *daemon) answers() bool {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(d.host(), "unix://"))
		},
	}}
	resp, err := client.Get("http://engine/_ping")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// load gives the engine the base image of the tests' usual one.
func (d *daemon) load() {
	d.t.Helper()
	save, load := exec.Command("docker", "save", daemonImage), exec.Command("docker", "-H", d.host(), "load")
	pipe, err := save.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	load.Stdin = pipe
	var out bytes.Buffer
	load.Stdout, load.Stderr = &out, &out
	if err := errors.Join(save.Start(), load.Run(), save.Wait()); err != nil {
		d.t.Fatalf("load %s: %v: %s", daemonImage, err, out.Bytes())
	}
}

// docker runs the engine's own client on it.
func (d *daemon) docker(args ...string) string {
	d.t.Helper()
	out, err := exec.Command("docker", append([]string{"-H", d.host()}, args...)...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("docker %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// stop ends the engine in good order.
func (d *daemon) stop() { d.end(syscall.SIGTERM) }

// kill ends the engine as a crash would.
func (d *daemon) kill() { d.end(syscall.SIGKILL) }

func (d *daemon) end(sig syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.t.Error(err)
	}
	<-d.ended
}

// again starts the engine once more on what it left.
func (d *daemon) again() { d.start(d.cmd.Path) }

// remove ends all processes of the engine and removes its files.
func (d *daemon) remove() {
	if d.cmd != nil {
		d.stop()
	}
	waitFor(d.t, "the engine's processes to end", func() bool {
		left := d.processes()
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return len(left) == 0
	})
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		d.t.Error(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if at := strings.Fields(line)[4]; strings.HasPrefix(at, d.dir+"/") || strings.HasPrefix(at, d.root+"/") {
			_ = syscall.Unmount(at, syscall.MNT_DETACH) // what is left shows in the removal
		}
	}
	if err := os.RemoveAll(d.dir); err != nil {
		d.t.Error(err)
	}
}

// processes are those that name the engine's own directory in their arguments:
// its containerd, and the shims of its containers.
func (d *daemon) processes() []int {
	var pids []int
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		d.t.Error(err)
	}
	for _, file := range dirs {
		args, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(args, []byte(d.dir+"/")) || !bytes.Contains(args, []byte("containerd")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// daemonRig is a rig on an engine of the test's own.
func daemonRig(t *testing.T, d *daemon) *rig {
	t.Helper()
	r := newRig(t)
	r.env = append(r.env, "DOCKER_HOST="+d.host())
	r.config["box"] = map[string]any{"image": daemonImage}
	return r
}

// behindHost puts a fault proxy between a rig's program and an engine of the
// test's own.
func behindHost(t *testing.T, r *rig, d *daemon) *sandboxtest.FaultProxy {
	t.Helper()
	p := sandboxtest.NewFaultProxy(t, strings.TrimPrefix(d.host(), "unix://"))
	r.env = append(r.env, "DOCKER_HOST="+p.Host())
	return p
}

func TestAnEngineThatIsRestartedInMidRun(t *testing.T) { //nolint:tparallel // one engine, restarted by each in turn
	t.Parallel()
	d := newDaemon(t, "")
	t.Cleanup(func() { d.t = t })
	for _, c := range []struct {
		name  string
		do    func()
		codes []string
	}{
		{"stopped", d.stop, []string{"engine_lost", runner.CodeBoxEnded}},
		{"killed", d.kill, []string{"engine_lost"}},
		{"stopped and started", func() { d.stop(); d.again() }, []string{"engine_lost", runner.CodeBoxEnded}},
		{"killed and started", func() { d.kill(); d.again() }, []string{"engine_lost", runner.CodeBoxEnded}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			rig, repo := daemonRig(t, d), newRepo(t, sample)
			rig.hasten()
			l := startLive(t, rig, repo)
			began := time.Now()
			c.do()
			_ = l.cmd.Wait() // the exit code is what counts
			res := storedResult(t, rig.state, l.run)
			t.Logf("%s after %s: %v, cleanup %+v", res.Status, time.Since(began).Round(time.Second), codes(res), res.Box.Cleanup)
			known := false
			for _, code := range c.codes {
				known = known || hasCode(res, code)
			}
			if exit := l.cmd.ProcessState.ExitCode(); exit != 4 || res.Status != runner.StatusFailed || !known || res.Git.Branch != "" {
				t.Errorf("exit %d, %s %v", exit, res.Status, codes(res))
			}
			if res.Box.Cleanup.Complete == hasCode(res, "cleanup_failed") {
				t.Errorf("cleanup %+v, %v", res.Box.Cleanup, codes(res))
			}
			if !d.answers() {
				d.again()
			}
			// The next run clears away what the engine remembers.
			if next, o := rig.execute(repo.task("echo x > x.txt")); o.exit != 0 || hasCode(next, "cleanup_failed") {
				t.Errorf("the next run: exit %d, %+v: %s", o.exit, next.Issues, o.stderr)
			}
			if left := d.docker("ps", "-aq") + d.docker("volume", "ls", "-q"); left != "" {
				t.Errorf("left on the engine: %s", left)
			}
		})
	}
}

func TestAnImageThatVanishesIsNamed(t *testing.T) { //nolint:tparallel // one engine, robbed by each in turn
	t.Parallel()
	d := newDaemon(t, "")
	t.Run("before the box is made", func(t *testing.T) {
		rig, repo := daemonRig(t, d), newRepo(t, sample)
		p := behindHost(t, rig, d)
		removed := false
		p.AfterAnswer(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/volumes/create") }, func() {
			if !removed {
				removed = true
				d.docker("rmi", "-f", daemonImage)
			}
		})
		res, o := rig.execute(repo.task("true"))
		if o.exit != 4 || !hasCode(res, runner.CodeImageUnusable) || !res.Box.Cleanup.Complete {
			t.Errorf("exit %d, issues %+v, cleanup %+v", o.exit, res.Issues, res.Box.Cleanup)
		}
		doc, exit := rig.refuse(marshal(t, repo.task("true")))
		if exit != 5 || doc.Error.Type != "bridge_failure" || !strings.Contains(doc.Error.Message, daemonImage) {
			t.Errorf("exit %d, %+v", exit, doc)
		}
	})
	t.Run("layers and all", func(t *testing.T) {
		d.load()
		rig, repo := daemonRig(t, d), newRepo(t, sample)
		layers, err := filepath.Glob(filepath.Join(d.root, "*", "*", "diff"))
		if err != nil || len(layers) == 0 {
			t.Skipf("this engine keeps its layers elsewhere (%v)", err)
		}
		for _, l := range layers {
			if err := os.RemoveAll(l); err != nil {
				t.Fatal(err)
			}
		}
		res, o := rig.execute(repo.task("true"))
		if o.exit != 4 || hasCode(res, runner.CodeRunnerError) || !res.Box.Cleanup.Complete {
			t.Errorf("exit %d, issues %+v, cleanup %+v", o.exit, res.Issues, res.Box.Cleanup)
		}
		t.Logf("issues %+v", res.Issues)
	})
}

func TestAnEngineWhoseDiskIsFullFailsTheRunWithAResult(t *testing.T) {
	t.Parallel()
	root := smallDisk(t, "size=200m,mode=0711")
	d := newDaemon(t, root)
	rig, repo := daemonRig(t, d), newRepo(t, sample)
	fill(t, root)
	res, o := rig.execute(repo.task("true"))
	if o.exit == 0 || hasCode(res, runner.CodeRunnerError) || !res.Box.Cleanup.Complete {
		t.Errorf("exit %d, issues %+v, cleanup %+v", o.exit, res.Issues, res.Box.Cleanup)
	}
	t.Logf("exit %d, issues %+v", o.exit, res.Issues)
}
