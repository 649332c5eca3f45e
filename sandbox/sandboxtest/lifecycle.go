package sandboxtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"sandboxrun/sandbox"
)

// lifecycleTests are about how boxes begin and end.
func (s suite) lifecycleTests() map[string]func(t *testing.T) {
	tests := s.endTests()
	maps.Copy(tests, s.guestTests())
	maps.Copy(tests, s.openTests())
	return tests
}

// endTests end boxes in every way that a runner does.
func (s suite) endTests() map[string]func(t *testing.T) {
	return map[string]func(t *testing.T){
		"the end of a context removes the box and says why": func(t *testing.T) {
			box := s.open(t, nil)
			why := errors.New("the person said stop")
			ctx, cancel := context.WithCancelCause(box.ctx)
			seconds := marker()
			started := &trigger{fire: func() { cancel(why) }}
			// Ignores signals, with a daemon in a session of its own.
			script := fmt.Sprintf("trap '' TERM INT HUP; setsid sleep %s & sleep %s & echo up; while :; do sleep 1; done", seconds, seconds)
			_, err := box.Exec(ctx, sandbox.Command{Argv: []string{"/bin/sh", "-c", script}, Stdout: started})
			if err != why { //nolint:errorlint // the cause itself
				t.Errorf("got %v", err)
			}
			if n := processes(t, seconds); n != 0 {
				t.Errorf("%d processes left", n)
			}
			if _, err := box.try(box.ctx, "true"); err != why { //nolint:errorlint // the cause itself
				t.Errorf("a later exec: %v", err)
			}
			NothingLeft(t, box.engine, box.spec)
		},
		"a context that has ended starts nothing": func(t *testing.T) {
			box := s.open(t, nil)
			ctx, cancel := context.WithCancel(box.ctx)
			cancel()
			if _, err := box.try(ctx, "true"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		},
		"close ends running execs": func(t *testing.T) {
			box := s.open(t, nil)
			seconds := marker()
			var all sync.WaitGroup
			for range 2 {
				up := make(chan struct{})
				all.Go(func() {
					_, err := box.Exec(box.ctx, sandbox.Command{
						Argv:   []string{"/bin/sh", "-c", "echo up; sleep " + seconds},
						Stdout: &trigger{fire: func() { close(up) }},
					})
					if err != sandbox.ErrClosed { //nolint:errorlint // and nothing around it
						t.Errorf("got %v", err)
					}
				})
				<-up
			}
			for range 3 {
				all.Go(func() {
					if err := box.Close(box.ctx); err != nil {
						t.Errorf("close: %v", err)
					}
				})
			}
			all.Wait()
			if n := processes(t, seconds); n != 0 {
				t.Errorf("%d processes left", n)
			}
			if _, err := box.try(box.ctx, "true"); err != sandbox.ErrClosed { //nolint:errorlint // and nothing around it
				t.Errorf("a later exec: %v", err)
			}
		},
		"close works under an ended context": func(t *testing.T) {
			box := s.open(t, nil)
			ctx, cancel := context.WithCancel(box.ctx)
			cancel()
			if err := box.Close(ctx); err != nil {
				t.Error(err)
			}
			NothingLeft(t, box.engine, box.spec)
		},
		"reap removes boxes of dead owners only": func(t *testing.T) {
			dead, living := s.open(t, nil), s.open(t, nil)
			removed, err := dead.engine.Reap(dead.ctx, func(owner string) bool { return owner != dead.spec.Owner })
			if err != nil || len(removed) == 0 {
				t.Errorf("removed %v, %v", removed, err)
			}
			if _, err := dead.try(dead.ctx, "sleep 1000"); err == nil {
				t.Error("the dead owner's box still runs")
			}
			living.want("echo alive", "alive")
		},
	}
}

// guestTests are about the main process of a box.
func (s suite) guestTests() map[string]func(t *testing.T) {
	return map[string]func(t *testing.T){
		"standard input and output are the guest's": func(t *testing.T) {
			box := s.open(t, nil)
			guest := box.Stdio()
			r := bufio.NewReader(guest)
			for _, line := range []string{"hello\n", string(bytes.Repeat([]byte("x"), 100000)) + "\n"} {
				sent := say(guest, line)
				if got, err := r.ReadString('\n'); err != nil || got != line {
					t.Fatalf("got %d bytes, %v", len(got), err)
				}
				if err := <-sent; err != nil {
					t.Errorf("write: %v", err)
				}
			}
			if err := box.Close(box.ctx); err != nil {
				t.Error(err)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("read after close: %v", err)
			}
			if _, err := io.WriteString(guest, "x"); err == nil {
				t.Error("write after close: no error")
			}
		},
		"closing the guest's input ends the box": func(t *testing.T) {
			box := s.open(t, nil)
			up := make(chan struct{})
			go func() {
				<-up
				box.Stdio().Close()
			}()
			_, err := box.Exec(box.ctx, sandbox.Command{
				Argv: []string{"/bin/sh", "-c", "echo up; sleep 1000"}, Stdout: &trigger{fire: func() { close(up) }},
			})
			var ended *sandbox.EndedError
			if !errors.As(err, &ended) || ended.Code != 0 {
				t.Errorf("got %v", err)
			}
		},
		"a guest that fails is reported with the end of its output": func(t *testing.T) {
			box := s.open(t, func(s *sandbox.Spec) {
				s.Guest = []string{"/bin/sh", "-c", "read line; echo $line >&2; exit 7"}
			})
			sent := say(box.Stdio(), "my last words\n")
			got, err := box.try(box.ctx, "sleep 1000")
			if err := <-sent; err != nil {
				t.Errorf("write: %v", err)
			}
			var ended *sandbox.EndedError
			if !errors.As(err, &ended) || ended.Code != 7 || ended.Stderr != "my last words" {
				t.Errorf("got %+v, %v", got, err)
			}
		},
	}
}

// openTests are about boxes that can and cannot be made.
func (s suite) openTests() map[string]func(t *testing.T) {
	return map[string]func(t *testing.T){
		"a box that cannot be opened leaves nothing": func(t *testing.T) {
			for name, change := range map[string]func(*sandbox.Spec){
				"no such image":        func(s *sandbox.Spec) { s.Image = "sandboxrun/no-such-image:x" },
				"malformed image":      func(s *sandbox.Spec) { s.Image = "Not A Reference" },
				"no image":             func(s *sandbox.Spec) { s.Image = "" },
				"root":                 func(s *sandbox.Spec) { s.User = sandbox.User{} },
				"group root":           func(s *sandbox.Spec) { s.User.GID = 0 },
				"no guest":             func(s *sandbox.Spec) { s.Guest = nil },
				"no such tree":         func(s *sandbox.Spec) { s.Tree.Dir += "/missing" },
				"no such runtime":      func(s *sandbox.Spec) { s.Runtime = "no-such-runtime" },
				"no tree":              func(s *sandbox.Spec) { s.Tree = sandbox.Tree{} },
				"a missing source":     func(s *sandbox.Spec) { s.Binds = []sandbox.Bind{{Source: s.Tree.Dir + "/missing", Target: "/x"}} },
				"a bind over the root": func(s *sandbox.Spec) { s.Binds = []sandbox.Bind{{Source: s.Tree.Dir, Target: "/"}} },
				"an owner with spaces": func(s *sandbox.Spec) { s.Owner = "a b" },
				"too little free disk": func(s *sandbox.Spec) { s.Limits.FreeBytes = 1 << 60 },
			} {
				spec := Spec(t, s.options)
				change(&spec)
				engine := s.newEngine(t)
				if box, err := engine.Open(t.Context(), spec); err == nil {
					t.Errorf("%s: no error; close: %v", name, box.Close(t.Context()))
				} else {
					t.Logf("%s: %v", name, err)
				}
				NothingLeft(t, engine, spec)
			}
		},
		"a missing guest is reported": func(t *testing.T) {
			// An init runs first, so Open may succeed.
			spec := Spec(t, s.options)
			spec.Guest = []string{"/no/such/guest"}
			engine := s.newEngine(t)
			box, err := engine.Open(t.Context(), spec)
			if err == nil {
				_, err = box.Exec(t.Context(), sandbox.Command{Argv: []string{"sleep", "1000"}})
				if err := box.Close(t.Context()); err != nil {
					t.Errorf("close: %v", err)
				}
			}
			if err == nil || !strings.Contains(err.Error(), "/no/such/guest") {
				t.Errorf("got %v", err)
			}
			NothingLeft(t, engine, spec)
		},
		"a missing image is reported": func(t *testing.T) {
			spec := Spec(t, s.options)
			spec.Image = "sandboxrun/no-such-image:x"
			_, err := s.newEngine(t).Open(t.Context(), spec)
			var missing *sandbox.ImageError
			if !errors.As(err, &missing) || missing.Image != spec.Image || missing.Hint == "" {
				t.Errorf("got %v", err)
			}
		},
		"a name in use is refused and its box untouched": func(t *testing.T) {
			box := s.open(t, nil)
			if twin, err := box.engine.Open(box.ctx, box.spec); err == nil {
				t.Errorf("no error; close: %v", twin.Close(box.ctx))
			}
			box.want("echo alive", "alive")
		},
		"the engine describes itself": func(t *testing.T) {
			info, err := s.newEngine(t).Info(t.Context())
			if err != nil || info.Name == "" || info.Version == "" || info.APIVersion == "" || info.CgroupVersion == "" || len(info.Components) == 0 {
				t.Errorf("got %+v, %v", info, err)
			}
			if r := s.options.Runtime; r != "" && !slices.Contains(info.Runtimes, r) {
				t.Errorf("runtime %s is not among %v", r, info.Runtimes)
			}
		},
	}
}

// say writes text in the background; the channel receives the result.
func say(w io.Writer, text string) <-chan error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(w, text)
		sent <- err
	}()
	return sent
}

// trigger fires once, at the first write.
type trigger struct {
	once sync.Once
	fire func()
}

func (w *trigger) Write(p []byte) (int, error) {
	w.once.Do(w.fire)
	return len(p), nil
}
