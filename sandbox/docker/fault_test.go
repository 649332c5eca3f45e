package docker_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/internal/step"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
	"sandboxrun/sandbox/sandboxtest"
)

const engineSocket = "/var/run/docker.sock"

// brisk are time limits with which a test notices a dead engine soon.
func brisk() docker.Timeouts {
	return docker.Timeouts{
		Call: 5 * time.Second, Create: 10 * time.Second, Start: 20 * time.Second,
		Remove: 5 * time.Second, Teardown: 10 * time.Second, Retry: 4 * time.Second,
		Ping: 2 * time.Second, PingGap: 500 * time.Millisecond,
	}
}

// faulty is an engine behind a proxy, and the same engine without one.
func faulty(t *testing.T) (*sandboxtest.FaultProxy, *docker.Engine) {
	t.Helper()
	requireEngine(t)
	proxy := sandboxtest.NewFaultProxy(t, engineSocket)
	return proxy, openEngine(t, docker.Config{Host: proxy.Host(), Timeouts: brisk()})
}

func testSpec(t testing.TB) sandbox.Spec {
	t.Helper()
	return sandboxtest.Spec(t, sandboxtest.Options{Image: testImage})
}

// openBox opens a box, which the test closes.
func openBox(t *testing.T, e *docker.Engine) (sandbox.Sandbox, sandbox.Spec) {
	t.Helper()
	spec := testSpec(t)
	box, err := e.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return box, spec
}

func path(method, part string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.Contains(r.URL.Path, part) }
}

func wantUnavailable(t *testing.T, err error, hint string) {
	t.Helper()
	var lost *sandbox.UnavailableError
	if !errors.As(err, &lost) || !strings.Contains(lost.Hint, hint) {
		t.Errorf("got %v (%+v); want an unavailable engine with hint %q", err, lost, hint)
	}
}

func TestEngineAbsent(t *testing.T) {
	t.Parallel()
	e := openEngine(t, docker.Config{Host: "unix:///nonexistent/engine.sock", Timeouts: brisk()})
	_, err := e.Info(t.Context())
	wantUnavailable(t, err, "start the engine")
	_, err = e.Open(t.Context(), testSpec(t))
	wantUnavailable(t, err, "start the engine")
	_, err = e.Reap(t.Context(), func(string) bool { return true })
	wantUnavailable(t, err, "start the engine")
}

func TestHungEngineGetsItsHint(t *testing.T) {
	t.Parallel()
	proxy, e := faulty(t)
	proxy.Hang(true)
	_, err := e.Open(t.Context(), testSpec(t))
	wantUnavailable(t, err, "does not answer")
}

func TestEngineTooOld(t *testing.T) {
	t.Parallel()
	proxy, e := faulty(t)
	proxy.Version("1.40")
	_, err := e.Info(t.Context())
	wantUnavailable(t, err, "20.10")
}

func TestMalformedEndpoint(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"docker.sock", "ssh://somewhere", "://"} {
		if _, err := docker.New(docker.Config{Host: host, Dir: t.TempDir()}); err == nil {
			t.Errorf("%s: no error", host)
		}
	}
}

func TestFailedOpenLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*http.Request) bool{
		"create":  path("POST", "/containers/create"),
		"inspect": path("GET", "/json"),
		"attach":  path("POST", "/attach"),
		"start":   path("POST", "/start"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, e := faulty(t)
			spec := testSpec(t)
			if name == "inspect" {
				// Only for the container of the box: the image is inspected first, and the removal of the one that shows the users of the image.
				fault = func(r *http.Request) bool {
					return path("GET", "/json")(r) && strings.Contains(r.URL.Path, "/containers/") && !strings.Contains(r.URL.Path, ".users/")
				}
			}
			proxy.Answer(http.StatusInternalServerError, fault)
			if name == "inspect" {
				// Removal is confirmed by inspection; heal the proxy meanwhile.
				time.AfterFunc(2*time.Second, proxy.Heal)
			}
			box, err := e.Open(t.Context(), spec)
			if err == nil {
				t.Fatalf("no error; close: %v", box.Close(t.Context()))
			}
			if name != "attach" && !strings.Contains(err.Error(), "injected fault") {
				t.Errorf("got %v", err)
			}
			sandboxtest.NothingLeft(t, newEngine(t), spec)
		})
	}
}

func TestOpenWithLostAnswersLeavesNothing(t *testing.T) {
	t.Parallel()
	proxy, e := faulty(t)
	spec := testSpec(t)
	// The engine creates the container; its answer never arrives.
	proxy.AfterAnswer(path("POST", "/containers/create"), func() {
		proxy.Cut()
	})
	if box, err := e.Open(t.Context(), spec); err == nil {
		t.Fatalf("no error; close: %v", box.Close(t.Context()))
	}
	sandboxtest.NothingLeft(t, newEngine(t), spec)
}

// An engine carries out a creation whose caller has gone. The container that appears then holds the volume of the tree.
func TestOpenStoppedDuringCreationLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for i := range 16 {
		spec := testSpec(t)
		dir := t.TempDir()
		spec.Tree = sandbox.Tree{Lower: []string{dir + "/lower"}, Upper: dir + "/upper", Work: dir + "/work"}
		for _, layer := range []string{spec.Tree.Lower[0], spec.Tree.Upper, spec.Tree.Work} {
			if err := os.Mkdir(layer, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		created := 0
		spec.Journal = func(n step.Name, _ string) func(error) {
			if n == sandbox.StepCreate {
				created++
				time.AfterFunc(time.Duration(i)*2*time.Millisecond, cancel)
			}
			return func(error) {}
		}
		began := time.Now()
		if box, err := e.Open(ctx, spec); err == nil {
			if err := box.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 15*time.Second || created != 1 {
			t.Errorf("stopped after %s, %d creations", took, created)
		}
		cancel()
		sandboxtest.NothingLeft(t, e, spec)
	}
}

func TestCloseReportsUnconfirmedRemoval(t *testing.T) {
	t.Parallel()
	proxy, e := faulty(t)
	box, spec := openBox(t, e)
	proxy.Answer(http.StatusInternalServerError, path("DELETE", "/containers/"))
	if err := box.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "not confirmed") {
		t.Errorf("got %v", err)
	}
	proxy.Heal()
	if err := box.Close(t.Context()); err != nil {
		t.Errorf("second close: %v", err)
	}
	sandboxtest.NothingLeft(t, newEngine(t), spec)
}

func TestEngineLostWhileExecRuns(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*sandboxtest.FaultProxy){
		"dies":  (*sandboxtest.FaultProxy).Refuse,
		"hangs": func(p *sandboxtest.FaultProxy) { p.Hang(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, e := faulty(t)
			box, spec := openBox(t, e)
			up := &once{do: func() { fault(proxy) }}
			begin := time.Now()
			_, err := box.Exec(t.Context(), sandbox.Command{Argv: []string{"/bin/sh", "-c", "echo up; sleep 1000"}, Stdout: up})
			wantUnavailable(t, err, "")
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
			if _, again := box.Exec(t.Context(), sandbox.Command{Argv: []string{"true"}}); again != err { //nolint:errorlint // the very same
				t.Errorf("a later exec: %v, not %v", again, err)
			}
			if err := box.Close(t.Context()); err == nil {
				t.Error("close confirmed a removal it cannot know of")
			}
			// A later Reap finds the rest.
			direct := newEngine(t)
			left, err := direct.Reap(context.WithoutCancel(t.Context()), func(owner string) bool { return owner != spec.Owner })
			if err != nil || len(left) != 1 {
				t.Errorf("reaped %v, %v", left, err)
			}
		})
	}
}

func TestCutStreamsAreErrors(t *testing.T) {
	t.Parallel()
	proxy, e := faulty(t)
	box, spec := openBox(t, e)
	_, err := box.Exec(t.Context(), sandbox.Command{
		Argv: []string{"/bin/sh", "-c", "echo up; cat; sleep 1000"}, Stdout: &once{do: proxy.Cut},
	})
	if err == nil {
		t.Error("no error")
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	sandboxtest.NothingLeft(t, newEngine(t), spec)
}

func TestWaitsForSlowEngine(t *testing.T) {
	t.Parallel()
	proxy, e := faulty(t)
	proxy.Slow(100 * time.Millisecond)
	box, spec := openBox(t, e)
	exit, err := box.Exec(t.Context(), sandbox.Command{Argv: []string{"/bin/sh", "-c", "exit 3"}, Stdout: io.Discard})
	if err != nil || exit.Code != 3 {
		t.Errorf("%+v, %v", exit, err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	sandboxtest.NothingLeft(t, newEngine(t), spec)
}

type once struct {
	sync.Once
	do func()
}

func (w *once) Write(p []byte) (int, error) {
	w.Do(w.do)
	return len(p), nil
}
