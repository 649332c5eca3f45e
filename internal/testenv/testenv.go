// Package testenv tells tests what they may use: the container engine with its
// images and runtimes, and how much of a large suite is wanted. It is imported
// by tests only.
//
// Three sizes exist. With -short ("make test-short") nothing may use an engine,
// and the whole suite takes less than a minute. Without it ("make test") every
// kind of test runs, and suites that multiply cases sample them. With
// SANDBOXRUN_TEST=all ("make test-all") every case runs.
package testenv

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// sizeEnv names the variable that asks for every case.
const sizeEnv = "SANDBOXRUN_TEST"

// All reports whether every case of a large suite is wanted.
func All() bool { return os.Getenv(sizeEnv) == "all" }

// Sample returns every case where all are wanted, and otherwise n of them,
// spread evenly over the list, always the same. It logs what it left out.
func Sample[T any](t testing.TB, cases []T, n int) []T {
	t.Helper()
	if All() || n >= len(cases) {
		return cases
	}
	if testing.Short() {
		n = min(n, 1)
	}
	picked := make([]T, 0, n)
	for i := range n {
		picked = append(picked, cases[i*len(cases)/n])
	}
	t.Logf("sample: %d of %d cases; \"make test-all\" runs every one", n, len(cases))
	return picked
}

// NeedsAll skips a test that only "make test-all" runs.
func NeedsAll(t testing.TB, why string) {
	t.Helper()
	if !All() {
		t.Skipf("%s: \"make test-all\" runs it", why)
	}
}

// NeedsTime skips a test with -short: it uses no engine, but more time than a
// loop of seconds has.
func NeedsTime(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s: left out by -short", why)
	}
}

// ImageEnv names the variable by which the program, and so the tests of agents,
// take another image.
const ImageEnv = "SANDBOXRUN_IMAGE"

// AgentImage is the image with the real agents: the one that "make setup"
// builds, or the one that SANDBOXRUN_IMAGE names, by which the program under
// test takes it too. So several checkouts can each test an image of their own.
func AgentImage() string {
	if name := os.Getenv(ImageEnv); name != "" {
		return name
	}
	return "sandboxrun/agent"
}

// images remembers which images the engine was found to have.
var images = struct {
	sync.Mutex
	known map[string]string // image to what was wrong with it, "" for nothing
}{known: map[string]string{}}

// Engine skips a test with -short, and where no container engine answers or
// the engine lacks the image.
func Engine(t testing.TB, image string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a container engine: left out by -short")
	}
	images.Lock()
	defer images.Unlock()
	problem, known := images.known[image]
	if !known {
		out, err := exec.CommandContext(t.Context(), "docker", "image", "inspect", "--format", "{{.Id}}", image).CombinedOutput()
		if err != nil {
			problem = strings.TrimSpace(string(out)) + ": " + err.Error()
		}
		images.known[image] = problem
	}
	if problem != "" {
		t.Skipf("needs a container engine with the image %s (\"make setup\" makes it): %s", image, problem)
	}
}

// runtimes are the OCI runtimes of the engine.
var runtimes = sync.OnceValues(func() ([]string, error) {
	out, err := exec.Command("docker", "info", "--format", "{{range $name, $r := .Runtimes}}{{$name}} {{end}}").Output()
	return strings.Fields(string(out)), err
})

// Runtime skips a test with -short, and where the engine has no OCI runtime of
// that name.
func Runtime(t testing.TB, name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a container engine: left out by -short")
	}
	have, err := runtimes()
	if err != nil {
		t.Skipf("needs a container engine: docker info: %v", err)
	}
	if !slices.Contains(have, name) {
		t.Skipf("the engine has no runtime %s (\"make gvisor\" installs it), only %s", name, strings.Join(have, ", "))
	}
}
