package reader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/workspace"
)

// faulty has a child do the site's work whose fault strikes, for at most bound.
func faulty(t *testing.T, s *site, fault string, bound time.Duration, l Limits) (Reading, *Child, error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), bound, errors.New("the bound of the test"))
	defer cancel()
	c := Program{Path: built, Limits: l, fault: fault}.Start()
	got, err := c.Read(ctx, s.work(t, nil), Progress{})
	began := time.Now()
	c.Stop()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("%s: stopping took %s", fault, took)
	}
	if c.cmd.ProcessState == nil {
		t.Errorf("%s: the child was not waited for", fault)
	}
	return got, c, err
}

// Whatever a child does, its reading ends with an error that says so, and what was known before stays known.
func TestAFailingChildIsAnErrorAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t, workspace.LayoutCopy, baseFiles, edit(t))
	for what, want := range map[string]string{
		"kill": "ended early (signal: killed)", "exit": "ended early (exit status 0)", "panic": "on purpose", "garbage": errProtocol.Error(),
		"endless": errProtocol.Error(), "huge": "a message of 4294967295 bytes", "repeat": "number of findings", "truncate": "ended early (exit status 0)",
		"stop": "more than its bound of time", "hang": "more than its bound of time",
	} {
		for _, at := range []point{pointStart, pointMiddle} {
			t.Run(what+" "+string(at), func(t *testing.T) {
				t.Parallel()
				bound := time.Minute
				if what == "stop" || what == "hang" {
					bound = 2 * time.Second
				}
				began := time.Now()
				got, _, err := faulty(t, s, fmt.Sprintf("%s %s", what, at), bound, Limits{})
				if what == "repeat" && at == pointMiddle { // no findings are due there
					want = errProtocol.Error()
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("took %s", took)
				}
				if (got.Snapshot != nil) != (at == pointMiddle) || got.Diff != nil || got.Inspection != nil || got.Leaks != nil || got.Patched {
					t.Errorf("reading %+v", got)
				}
				if limit := (*LimitError)(nil); errors.As(err, &limit) != (what == "stop" || what == "hang") {
					t.Errorf("a limit: %v", err)
				}
			})
		}
	}
}

// Once everything is answered, nobody waits for the child's end.
func TestAChildThatFailsAfterItsAnswerHasAnswered(t *testing.T) {
	t.Parallel()
	s := newSite(t, workspace.LayoutCopy, baseFiles, edit(t))
	for _, what := range []string{"kill", "exit", "panic", "garbage", "endless", "hang", "stop", "spin"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			got, _, err := faulty(t, s, what+" end", time.Minute, Limits{})
			if err != nil || !got.Patched {
				t.Errorf("got %v, %+v", err, got)
			}
		})
	}
}

func TestAChildEndsAtEachOfItsLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t, workspace.LayoutCopy, baseFiles, edit(t))
	for what, want := range map[string]string{"memory": "more than 192 MiB of memory", "spin": "more than 1s of processor time"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := DefaultLimits()
			l.MemoryBytes, l.CPU = 192<<20, time.Second
			if what == "memory" {
				l.CPU = time.Minute
			}
			_, c, err := faulty(t, s, what+" middle", time.Minute, l)
			limit := (*LimitError)(nil)
			if !errors.As(err, &limit) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			use, ok := c.cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok || use.Maxrss > 256<<10 {
				t.Errorf("resident memory %+v", use)
			}
		})
	}
}

// The limits hold for what a tree really takes, not only for faults.
func TestATreeThatTakesTooMuchMemoryEndsTheChild(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 200)
	s := newSite(t, workspace.LayoutCopy, baseFiles, func(dir string) {
		for i := range 25_000 {
			f, err := os.OpenFile(filepath.Join(dir, long+strconv.Itoa(i)), os.O_CREATE|os.O_WRONLY, 0o644)
			gitdifftest.Must(t, err)
			gitdifftest.Must(t, f.Close())
		}
	})
	l := DefaultLimits()
	l.MemoryBytes = 40 << 20
	c := Program{Path: built, Limits: l}.Start()
	defer c.Stop()
	limit := (*LimitError)(nil)
	if _, err := c.Read(t.Context(), s.work(t, nil), Progress{}); !errors.As(err, &limit) || limit.What != "memory" {
		t.Errorf("got %v", err)
	}
	if got, err := read(t, s.work(t, nil), Progress{}); err != nil || len(got.Diff.Changes) != 25_000 {
		t.Errorf("with the usual limits: %v", err)
	}
}

// A reading that is stopped leaves within two seconds, whatever the child does.
func TestAStoppedReadingEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, workspace.LayoutCopy, baseFiles, edit(t))
	stopped := errors.New("stopped by a person")
	for _, fault := range []string{"hang start", "stop middle", "spin middle", "hang middle"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			c := Program{Path: built, fault: fault}.Start()
			defer c.Stop()
			var at time.Time
			time.AfterFunc(500*time.Millisecond, func() {
				at = time.Now()
				cancel(stopped)
			})
			_, err := c.Read(ctx, s.work(t, nil), Progress{})
			if took := time.Since(at); !errors.Is(err, stopped) || took > time.Second {
				t.Errorf("got %v after %s", err, took)
			}
		})
	}
}
