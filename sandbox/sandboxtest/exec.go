package sandboxtest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/sandbox"
)

func (s suite) execTests() map[string]func(t *testing.T) {
	return map[string]func(t *testing.T){
		"streams are separate and exit codes kept": func(t *testing.T) {
			box := s.open(t, nil)
			for _, code := range []int{0, 1, 3, 126, 255} {
				got := box.sh(fmt.Sprintf("echo out; echo err >&2; exit %d", code))
				if got.Code != code || got.out != "out\n" || got.err != "err\n" || got.Duration <= 0 {
					t.Errorf("exit %d: got %+v", code, got)
				}
			}
		},
		"a signal n is exit code 128+n": func(t *testing.T) {
			box := s.open(t, nil)
			for script, code := range map[string]int{"kill -TERM $$": 143, "kill -KILL $$": 137, "kill -ABRT $$": 134} {
				if got := box.sh(script); got.Code != code {
					t.Errorf("%s: exit %d, want %d", script, got.Code, code)
				}
			}
		},
		"a missing program is not a success": func(t *testing.T) {
			box := s.open(t, nil)
			exit, err := box.Exec(box.ctx, sandbox.Command{Argv: []string{"/no/such/program"}})
			if err == nil && exit.Code == 0 {
				t.Error("exit 0")
			}
		},
		"input arrives whole and ends": func(t *testing.T) {
			box := s.open(t, nil)
			data := make([]byte, 3<<20+17)
			if _, err := rand.Read(data); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			exit, err := box.Exec(box.ctx, sandbox.Command{Argv: []string{"cat"}, Stdin: bytes.NewReader(data), Stdout: &out})
			if err != nil || exit.Code != 0 || !bytes.Equal(out.Bytes(), data) {
				t.Errorf("exit %+v, %v; %d of %d bytes came back", exit, err, out.Len(), len(data))
			}
		},
		"no input reads as end of file": func(t *testing.T) {
			s.open(t, nil).want("cat | wc -c", "0")
		},
		"unread input does not block the end of a process": func(t *testing.T) {
			box := s.open(t, nil)
			in, keep := io.Pipe()
			defer keep.Close()
			exit, err := box.Exec(box.ctx, sandbox.Command{Argv: []string{"/bin/sh", "-c", "exit 9"}, Stdin: in})
			if err != nil || exit.Code != 9 {
				t.Errorf("exit %+v, %v", exit, err)
			}
		},
		"environment, directory and user are the box's": func(t *testing.T) {
			box := s.open(t, func(s *sandbox.Spec) { s.Env = []string{"FROM_SPEC=1", "BOTH=spec"} })
			var out bytes.Buffer
			_, err := box.Exec(box.ctx, sandbox.Command{
				Argv:   []string{"/bin/sh", "-c", `echo "$FROM_SPEC $FROM_COMMAND $BOTH $HOME $PWD $(id -u):$(id -g) $(id -G)"`},
				Env:    []string{"FROM_COMMAND=2", "BOTH=command"},
				Stdout: &out,
			})
			u := box.spec.User
			want := fmt.Sprintf("1 2 command %s %s %d:%d %d\n", sandbox.Home, sandbox.WorkDir, u.UID, u.GID, u.GID)
			if err != nil || out.String() != want {
				t.Errorf("got %q, %v; want %q", out.String(), err, want)
			}
		},
		"an end of output is not an end": func(t *testing.T) {
			if got := s.open(t, nil).sh("exec >&- 2>&-; sleep 1; exit 5"); got.Code != 5 || got.Duration < time.Second {
				t.Errorf("got %+v", got)
			}
		},
		"a child that outlives its shell does not block the exec": func(t *testing.T) {
			box := s.open(t, nil)
			if got := box.sh("sleep 1000 & echo started; exit 4"); got.Code != 4 || got.out != "started\n" || got.Duration > time.Minute {
				t.Errorf("got %+v", got)
			}
		},
		"a chatty child that outlives its shell does not block the exec": func(t *testing.T) {
			box := s.open(t, nil)
			if got := box.sh("(while :; do echo chat; sleep 0.1; done) & exit 6"); got.Code != 6 || got.Duration > time.Minute {
				t.Errorf("exit %d after %s", got.Code, got.Duration)
			}
		},
		"a slow receiver loses nothing": func(t *testing.T) {
			box := s.open(t, nil)
			const lines = 20000
			var slow slowWriter
			exit, err := box.Exec(box.ctx, sandbox.Command{Argv: []string{"seq", "1", fmt.Sprint(lines)}, Stdout: &slow})
			got := slow.String()
			if err != nil || exit.Code != 0 || strings.Count(got, "\n") != lines || !strings.HasSuffix(got, fmt.Sprintf("\n%d\n", lines)) {
				t.Errorf("exit %+v, %v; %d lines", exit, err, strings.Count(got, "\n"))
			}
		},
		"processes run at the same time": func(t *testing.T) {
			box := s.open(t, nil)
			var all sync.WaitGroup
			// Each waits for the other's file.
			for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}} {
				all.Go(func() {
					script := fmt.Sprintf("touch /tmp/%s; while [ ! -e /tmp/%s ]; do sleep 0.05; done; echo %s", pair[0], pair[1], pair[0])
					if got, err := box.try(box.ctx, script); err != nil || got.out != pair[0]+"\n" {
						t.Errorf("%+v, %v", got, err)
					}
				})
			}
			all.Wait()
		},
		"a receiver that fails ends the box": func(t *testing.T) {
			box := s.open(t, nil)
			full := errors.New("disk full")
			_, err := box.Exec(box.ctx, sandbox.Command{Argv: []string{"echo", "x"}, Stdout: failingWriter{full}})
			if !errors.Is(err, full) {
				t.Errorf("got %v", err)
			}
		},
		"no command is an error": func(t *testing.T) {
			box := s.open(t, nil)
			if _, err := box.Exec(box.ctx, sandbox.Command{}); err == nil {
				t.Error("no error")
			}
		},
	}
}

// slowWriter is slower than the stream.
type slowWriter struct {
	bytes.Buffer
	calls int
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if w.calls++; w.calls < 4 {
		<-time.After(700 * time.Millisecond)
	}
	return w.Buffer.Write(p)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
