package docker_test

import (
	"cmp"
	"testing"

	"go.uber.org/goleak"

	"sandboxrun/internal/testenv"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
	"sandboxrun/sandbox/sandboxtest"
)

const testImage = "debian:bookworm-slim"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	requireEngine(t)
	sandboxtest.Conformance(t, newEngine, sandboxtest.Options{Image: testImage, Overlay: true})
}

func TestConformanceGVisor(t *testing.T) {
	requireEngine(t)
	testenv.Runtime(t, "runsc")
	sandboxtest.Conformance(t, newEngine, sandboxtest.Options{
		Image: testImage, Runtime: "runsc", OwnKernel: true, Overlay: true, Third: 1,
	})
}

// requireEngine skips a test where no engine runs or the test image is missing.
func requireEngine(t testing.TB) sandbox.Info {
	t.Helper()
	testenv.Engine(t, testImage)
	info, err := openEngine(t, docker.Config{}).Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func newEngine(t *testing.T) sandbox.Engine { return openEngine(t, docker.Config{}) }

// openEngine makes an engine of the tests' own instance unless cfg names another.
func openEngine(t testing.TB, cfg docker.Config) *docker.Engine {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	cfg.Instance = cmp.Or(cfg.Instance, "test")
	e, err := docker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
