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

// podmanConf is what Podman needs on a machine without systemd. The delay, in seconds, is how long the monitor of an
// ended exec stays.
const podmanConf = `[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 10
`

func TestConformancePodman(t *testing.T) {
	host := startPodman(t)
	// The engine's own files are mounted too, and a test's name can make a path that Podman refuses.
	// One engine for all: to tell its version, Podman searches the machine's
	// packages for each of its parts.
	engine := openEngine(t, docker.Config{Host: host, Dir: t.TempDir()})
	newEngine := func(*testing.T) sandbox.Engine { return engine }
	sandboxtest.Conformance(t, newEngine, sandboxtest.Options{Image: testImage, Overlay: true, PlainPaths: true, Third: 2})
}

// startPodman runs Podman's Docker-compatible service on a socket of its own
// until the test ends, and returns its endpoint.
func startPodman(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Podman: left out by -short")
	}
	program, err := exec.LookPath("podman")
	if err != nil {
		t.Skip("podman is not installed: run make podman")
	}
	if os.Getuid() != 0 {
		t.Skip("podman without root cannot set ulimits")
	}
	dir, err := os.MkdirTemp("", "podman") //nolint:usetesting // the path of a unix socket may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	conf := filepath.Join(dir, "containers.conf")
	if err := os.WriteFile(conf, []byte(podmanConf), 0o600); err != nil {
		t.Fatal(err)
	}
	host := "unix://" + filepath.Join(dir, "s")
	var log bytes.Buffer
	// It also ends by itself, in case the test does not end it.
	service := exec.Command(program, "system", "service", "--time=60", host)
	service.Env = append(os.Environ(), "CONTAINERS_CONF="+conf)
	service.Stdout, service.Stderr = &log, &log
	service.Dir = dir // a monitor leaves files where the service was started
	service.WaitDelay = 10 * time.Second
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := service.Wait(); t.Failed() {
			t.Logf("podman's service: %v\n%s", err, log.String())
		}
	})
	awaitPodman(t, openEngine(t, docker.Config{Host: host}))
	return host
}

// awaitPodman waits until the service answers, and skips the test where it lacks the test image.
func awaitPodman(t *testing.T, e *docker.Engine) {
	t.Helper()
	var err error
	for range 200 {
		if _, err = e.Info(t.Context()); err == nil {
			break
		}
		<-time.After(50 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("podman's service does not answer: %v", err)
	}
	if _, err := e.Image(t.Context(), testImage); err != nil {
		t.Skipf("podman has no test image (run make podman): %v", err)
	}
}
