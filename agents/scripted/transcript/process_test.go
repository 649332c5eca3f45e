package transcript_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents/scripted/transcript"
	"sandboxrun/sandbox"
)

// echoBox is a box whose process answers every line, and complains at the end.
type echoBox struct{ stays bool }

func (b echoBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	in := bufio.NewScanner(c.Stdin)
	for in.Scan() {
		_, _ = io.WriteString(c.Stdout, `{"heard":`+in.Text()+"}\nand more\n")
	}
	_, _ = io.WriteString(c.Stderr, "bye at port 4711")
	if b.stays {
		<-ctx.Done()
		return sandbox.Exit{}, context.Cause(ctx)
	}
	return sandbox.Exit{Code: 7}, nil
}

func (echoBox) Stdio() io.ReadWriteCloser   { return nil }
func (echoBox) Close(context.Context) error { return nil }

// spoken is what a host that says lines sees of a box.
type spoken struct {
	Out, Err string
	Code     int
	Fault    error
}

// speak runs a process, tells it each line after the answer to the one before,
// and ends its input.
func speak(ctx context.Context, box sandbox.Sandbox, lines ...string) spoken {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var errs bytes.Buffer
	done := make(chan spoken)
	go func() {
		exit, err := box.Exec(ctx, sandbox.Command{Argv: []string{"echo", "-p", "4711"}, Env: []string{"KEY=secret"}, Stdin: inR, Stdout: outW, Stderr: &errs})
		_ = inR.CloseWithError(io.ErrClosedPipe)
		_ = outW.Close()
		done <- spoken{Code: exit.Code, Fault: err, Err: errs.String()}
	}()
	out := bufio.NewReader(outR)
	var text strings.Builder
	for _, l := range lines {
		if _, err := io.WriteString(inW, l+"\n"); err != nil {
			break
		}
		for range 2 {
			s, _ := out.ReadString('\n')
			text.WriteString(s)
		}
	}
	_ = inW.Close()
	rest, _ := io.ReadAll(out)
	s := <-done
	s.Out = text.String() + string(rest)
	return s
}

// recordEcho records a host that says lines to an echoBox.
func recordEcho(t *testing.T, lines ...string) []transcript.Entry {
	t.Helper()
	rec := transcript.Record("4711", "1")
	if s := speak(t.Context(), rec.Box(echoBox{}), lines...); s.Code != 7 || s.Fault != nil {
		t.Fatalf("recorded %+v", s)
	}
	entries, err := rec.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// playEcho lets a host say lines to a player, and returns what it saw.
func playEcho(t *testing.T, entries []transcript.Entry, lines ...string) (s spoken, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := transcript.Play(masked(entries), nil)
		s = speak(t.Context(), p, lines...)
		err = p.End()
	})
	return s, err
}

// masked undoes the mask in the arguments, which this host cannot.
func masked(entries []transcript.Entry) []transcript.Entry {
	for i := range entries {
		if entries[i].Argv != nil {
			entries[i].Argv = []string{"echo", "-p", "4711"}
		}
	}
	return entries
}

func TestPlayerSaysWhatTheProcessSaid(t *testing.T) {
	t.Parallel()
	entries := recordEcho(t, `{"a":1,"b":"<é>"}`, `[]`)
	var b bytes.Buffer
	if err := transcript.Write(&b, entries); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "secret") || strings.Contains(text, "4711") || !strings.Contains(text, `"frame":{"heard":{"a":1,"b":"<é>"}}`) {
		t.Errorf("the file is not masked, holds the environment, or is not readable:\n%s", text)
	}
	entries, err := transcript.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := playEcho(t, entries, `{ "b":"<é>", "a":1 }`, `[]`) // JSON is JSON
	if err != nil {
		t.Error(err)
	}
	want := spoken{Out: "{\"heard\":{\"a\":1,\"b\":\"<é>\"}}\nand more\n{\"heard\":[]}\nand more\n", Err: "bye at port 1\n", Code: 7}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPlayerNamesWhatTheHostSaysOtherwise(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines []string
		want  []string
	}{
		"other":     {[]string{`{"a":1}`, `{"a":2}`}, []string{"line 6 of the recording", "something else", `+`, `"2"`}},
		"not json":  {[]string{`a`, `[]`}, []string{"recorded:", `the host says: a`}},
		"too much":  {[]string{`{"a":1}`, `[]`, `{"more":1}`}, []string{"line 9", `"end":"input"`, `{"more":1}`}},
		"too early": {[]string{`{"a":1}`}, []string{"line 6", "the host says: the end of its input"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := playEcho(t, recordEcho(t, `{"a":1}`, `[]`), tc.lines...)
			if err == nil || s.Fault == nil {
				t.Fatalf("error = %v, seen %+v, want both to fail", err, s)
			}
			for _, want := range tc.want {
				if !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
		})
	}
}

func TestPlayerNamesWhatTheHostNeverSays(t *testing.T) {
	t.Parallel()
	entries := masked(recordEcho(t, `{"a":1}`))
	synctest.Test(t, func(t *testing.T) {
		p := transcript.Play(entries, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		inR, inW := io.Pipe()
		_, err := p.Exec(ctx, sandbox.Command{Argv: []string{"echo", "-p", "4711"}, Stdin: inR, Stdout: io.Discard})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("exec = %v", err)
		}
		_ = inW.CloseWithError(io.ErrClosedPipe)
		if err := p.End(); err == nil || !strings.Contains(err.Error(), `the host never said: {"exec":0,"from":"host","frame":{"a":1}}`) {
			t.Errorf("end = %v", err)
		}
	})
}

func TestPlayerKeepsMarksTimesAndRemovedBoxes(t *testing.T) {
	t.Parallel()
	stop := errors.New("enough")
	var entries []transcript.Entry
	synctest.Test(t, func(t *testing.T) {
		rec := transcript.Record()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() {
			rec.Mark("cancel")
			cancel(stop)
		})
		if s := speak(ctx, rec.Box(echoBox{stays: true})); !errors.Is(s.Fault, stop) {
			t.Errorf("recorded %+v", s)
		}
		var err error
		if entries, err = rec.Entries(); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		began := *entries[0].Began
		p := transcript.Play(entries, func(name string) {
			if name != "cancel" || time.Since(began) != 3*time.Second {
				t.Errorf("mark %s came at %s", name, time.Since(began))
			}
			cancel(stop)
		})
		if s := speak(ctx, p); !errors.Is(s.Fault, stop) {
			t.Errorf("played %+v", s)
		}
		if err := p.End(); err != nil {
			t.Error(err)
		}
	})
}

func TestRecorderRefusesWhatIsTooLong(t *testing.T) {
	t.Parallel()
	rec := transcript.Record()
	speak(t.Context(), rec.Box(echoBox{}), strings.Repeat("x", 60<<10))
	if _, err := rec.Entries(); err != nil {
		t.Errorf("60 KiB: %v", err)
	}
	_, _ = rec.Box(tooLong{}).Exec(t.Context(), sandbox.Command{Argv: []string{"x"}})
	if _, err := rec.Entries(); err == nil {
		t.Error("a line of 2 MiB was recorded")
	}
}

// tooLong is a box whose process prints one line without an end.
type tooLong struct{ echoBox }

func (tooLong) Exec(_ context.Context, c sandbox.Command) (sandbox.Exit, error) {
	for range 32 {
		_, _ = c.Stdout.Write(bytes.Repeat([]byte("y"), 64<<10))
	}
	return sandbox.Exit{}, nil
}
