package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
)

// daemonImage is the image of boxes on an engine of the test's own.
const daemonImage = "debian:bookworm-slim"

// daemon is an engine of the test's own, which it may stop and kill.
type daemon struct {
	t    *testing.T
	dir  string // of its sockets and logs
	root string // of its images and containers
	path string // of the program
	cmd  *exec.Cmd
	base int // the user of the machine that root of its boxes is; 0 for no namespaces of users

	ended chan struct{} // closed when cmd has ended
}

// newDaemon starts an engine with the base image, and skips the test where none can be started.
func newDaemon(t *testing.T, root string) *daemon {
	t.Helper()
	return (&daemon{t: t, root: root}).prepared()
}

// newRemappingDaemon is newDaemon with userns-remap.
func newRemappingDaemon(t *testing.T) *daemon {
	t.Helper()
	return (&daemon{t: t, base: 300000}).prepared()
}

// prepared starts the engine and loads its image.
func (d *daemon) prepared() *daemon {
	t := d.t
	t.Helper()
	path, err := exec.LookPath("dockerd")
	if err != nil || os.Getuid() != 0 {
		t.Skipf("no engine of the test's own: needs root and the program dockerd (%v)", err)
	}
	testenv.Engine(t, daemonImage)
	dir, err := os.MkdirTemp("", "dd") // the path of a unix socket may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	d.dir = dir
	if d.root == "" {
		d.root = filepath.Join(dir, "root")
	}
	t.Cleanup(d.remove)
	d.path = path
	d.start()
	d.load()
	return d
}

func (d *daemon) host() string { return "unix://" + filepath.Join(d.dir, "s") }

// start starts the engine and waits until it answers. A busy machine may need more than one attempt: the engine gives
// its own parts 15 seconds to start.
func (d *daemon) start() {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "none.json"), []byte("{}"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	for range 3 {
		if d.attempt() {
			return
		}
	}
	text, _ := os.ReadFile(filepath.Join(d.dir, "log"))
	d.t.Skipf("no engine of the test's own can start here: %s", text[max(0, len(text)-1000):])
}

func (d *daemon) attempt() bool {
	d.t.Helper()
	log, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	d.cmd = exec.Command(d.path, "--host", d.host(), "--data-root", d.root, "--exec-root", filepath.Join(d.dir, "exec"),
		"--pidfile", filepath.Join(d.dir, "pid"), "--config-file", filepath.Join(d.dir, "none.json"),
		"--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-masq=false")
	d.cmd.Stdout, d.cmd.Stderr = log, log
	// An engine without a bridge removes the one it finds, which is that of the machine's own engine.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if d.base != 0 {
		d.remap()
	}
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

// remap makes the engine map the users of its boxes. The ranges of numbers are in files of the machine; only this
// engine sees them with other content.
func (d *daemon) remap() {
	d.t.Helper()
	ranges := filepath.Join(d.dir, "subid")
	for _, needed := range []string{"/etc/subuid", "/etc/subgid"} {
		if _, err := os.Stat(needed); err != nil {
			d.t.Skipf("an engine that remaps users needs ranges of numbers for them: %v", err)
		}
	}
	if err := os.Chmod(d.dir, 0o711); err != nil { // root of a box passes through it to its own files
		d.t.Fatal(err)
	}
	if err := os.WriteFile(ranges, fmt.Appendf(nil, "nobody:%d:65536\nnogroup:%[1]d:65536\n", d.base), 0o644); err != nil {
		d.t.Fatal(err)
	}
	d.cmd.Args = slices.Concat([]string{"sh", "-c",
		`mount --make-rprivate / && mount --bind "$0" /etc/subuid && mount --bind "$0" /etc/subgid && exec "$@"`, ranges}, d.cmd.Args,
		[]string{"--userns-remap", "nobody:nogroup"})
	d.cmd.Path = "/bin/sh"
	d.cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNS
}

// answers reports whether the engine answers.
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

// stop ends the engine in an orderly way.
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

// again restarts the engine on its existing data.
func (d *daemon) again() { d.start() }

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

// processes are those with the engine's own directory in their arguments: its containerd, and the shims of its
// containers.
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
