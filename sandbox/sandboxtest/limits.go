package sandboxtest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"sandboxrun/sandbox"
)

func (s suite) limitTests() map[string]func(t *testing.T) {
	small := func(change func(*sandbox.Limits)) func(*sandbox.Spec) {
		return func(s *sandbox.Spec) { change(&s.Limits) }
	}
	return map[string]func(t *testing.T){
		"memory": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.MemoryBytes, l.TmpBytes = 96<<20, 1<<30 }))
			s.wantLimit(box, sandbox.LimitMemory, "tail /dev/zero")
		},
		"memory, when the shell survives": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.MemoryBytes = 96 << 20 }))
			s.wantLimit(box, sandbox.LimitMemory, "tail /dev/zero; exit 0")
		},
		"memory, through a temporary file": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.MemoryBytes, l.TmpBytes = 96<<20, 1<<30 }))
			s.wantLimit(box, sandbox.LimitMemory, "head -c 500M /dev/zero > /tmp/big; sleep 60")
		},
		"processes": func(t *testing.T) {
			if s.options.OwnKernel {
				t.Skip("the limit counts the processes of the runtime, not those of the box")
			}
			box := s.open(t, small(func(l *sandbox.Limits) { l.PIDs = 64 }))
			s.wantLimit(box, sandbox.LimitPIDs, "bomb() { bomb | bomb & }; bomb; sleep 60")
		},
		"disk, one file after the other": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.DiskBytes = 32 << 20 }))
			s.wantLimit(box, sandbox.LimitDisk, "i=0; while :; do head -c 1M /dev/urandom > f$i || exit; i=$((i+1)); done")
		},
		"disk, one big file": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.DiskBytes = 32 << 20 }))
			s.wantLimit(box, sandbox.LimitDisk, "exec head -c 10G /dev/zero > big")
		},
		"disk, a sparse file is refused": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.DiskBytes = 32 << 20 }))
			if got := box.sh("truncate -s 1T sparse; stat -c %s sparse"); strings.TrimSpace(got.out) == "1099511627776" {
				t.Errorf("got %+v", got)
			}
		},
		"disk, empty files": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.DiskInodes = 2000 }))
			s.wantLimit(box, sandbox.LimitDisk, "seq 1 5000 | xargs touch; sleep 60")
		},
		"disk, endless directories": func(t *testing.T) {
			box := s.open(t, nil)
			s.wantLimit(box, sandbox.LimitDisk, "i=0; while [ $i -lt 1200 ]; do mkdir d && cd d || exit; i=$((i+1)); done; sleep 60")
		},
		"output without a newline": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.OutputBytes = 1 << 20 }))
			s.wantLimit(box, sandbox.LimitOutput, "cat /dev/zero")
		},
		"output on both streams of several execs": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.OutputBytes = 100000 }))
			box.sh("head -c 40000 /dev/zero")
			box.sh("head -c 40000 /dev/zero >&2")
			s.wantLimit(box, sandbox.LimitOutput, "head -c 40000 /dev/zero; sleep 60")
		},
		"output up to the limit is passed on": func(t *testing.T) {
			box := s.open(t, small(func(l *sandbox.Limits) { l.OutputBytes = 70000 }))
			var got counter
			_, err := box.Exec(box.ctx, sandbox.Command{Argv: []string{"cat", "/dev/zero"}, Stdout: &got})
			if limitOf(err) != sandbox.LimitOutput || got != 70000 {
				t.Errorf("%d bytes, %v", got, err)
			}
		},
		"a flooding guest does not disturb": func(t *testing.T) {
			box := s.open(t, func(s *sandbox.Spec) {
				s.Guest = []string{"/bin/sh", "-c", "cat /dev/zero & cat /dev/zero >&2"}
			})
			box.want("echo fine", "fine")
		},
	}
}

// wantLimit runs a script that must end the box by that limit, in time.
func (s suite) wantLimit(box room, limit sandbox.Limit, script string) {
	box.t.Helper()
	begin := time.Now()
	exit, err := box.Exec(box.ctx, sandbox.Command{Argv: []string{"/bin/sh", "-c", script}, Stdout: io.Discard})
	if limitOf(err) != limit {
		box.t.Errorf("exit %+v, error %v; want the %s limit", exit, err, limit)
	}
	if took := time.Since(begin); took > 45*time.Second {
		box.t.Errorf("took %s", took)
	}
	if _, again := box.try(box.ctx, "true"); limitOf(again) != limit {
		box.t.Errorf("a later exec: %v", again)
	}
	NothingLeft(box.t, box.engine, box.spec)
}

func limitOf(err error) sandbox.Limit {
	if l, ok := errors.AsType[*sandbox.LimitError](err); ok {
		return l.Limit
	}
	return ""
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
