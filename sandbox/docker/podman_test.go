package docker_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
	"sandboxrun/sandbox/sandboxtest"
)

// podmanConf is what Podman needs on a machine without systemd. The cgroup
// namespace has to be asked for here: with cgroup v1 it is not the default, and
// the Docker-compatible request for it is not looked at.
const podmanConf = `
[containers]
cgroupns = "private"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
`

func TestConformancePodman(t *testing.T) {
	host, image := startPodman(t)
	newEngine := func(t *testing.T) sandbox.Engine { return openEngine(t, docker.Config{Host: host}) }
	sandboxtest.Conformance(t, newEngine, sandboxtest.Options{Image: image, PlainPaths: true})
}

// startPodman runs Podman's Docker-compatible service on a socket of its own
// until the test ends, and returns its endpoint and the test image.
func startPodman(t *testing.T) (host, image string) {
	t.Helper()
	program, err := exec.LookPath("podman")
	if err != nil {
		t.Skip("podman is not installed (scripts/podman does that)")
	}
	// Not t.TempDir: the path of a unix socket may have 107 bytes.
	dir, err := os.MkdirTemp("", "podman")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	conf := filepath.Join(dir, "containers.conf")
	if err := os.WriteFile(conf, []byte(podmanConf), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	var log bytes.Buffer
	service := exec.Command(program, "system", "service", "--time=0", "unix://"+socket)
	service.Env = append(os.Environ(), "CONTAINERS_CONF="+conf)
	service.Stdout, service.Stderr = &log, &log
	service.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		service.Process.Signal(syscall.SIGTERM)
		service.Wait()
		if t.Failed() {
			t.Logf("podman: %s", log.String())
		}
	})
	host = "unix://" + socket
	e := openEngine(t, docker.Config{Host: host})
	for range 100 {
		if _, err = e.Info(t.Context()); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("podman's service does not answer: %v", err)
	}
	return host, "localhost/" + testImage
}
