package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// StandsForGo says that this process was started in a box under the name of go, to record its tests.
func StandsForGo(argv0 string) bool {
	return filepath.Base(argv0) == "go" && os.Getenv(reportsVar) != ""
}

// GoMain runs the go that is next on PATH with the same arguments. It records the tests of "go test", and prints what that would print.
// It returns the exit code.
func GoMain(ctx context.Context, args []string) int {
	dir := os.Getenv(reportsVar)
	var dirs []string
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if d != filepath.Join(dir, "bin") {
			dirs = append(dirs, d)
		}
	}
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "go:", err)
		return codeNotFound
	}
	if err := errors.Join(os.Setenv("PATH", strings.Join(dirs, string(filepath.ListSeparator))), os.Unsetenv(reportsVar)); err != nil {
		return fail(err)
	}
	program, err := exec.LookPath("go")
	if err != nil {
		return fail(err)
	}
	recorded, verbose := withJSON(args)
	if recorded == nil {
		return fail(syscall.Exec(program, append([]string{"go"}, args...), os.Environ()))
	}
	out, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("go-%d.jsonl", os.Getpid())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fail(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, program, recorded...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	g := &goEvents{lines: json.NewEncoder(out), screen: os.Stdout, verbose: verbose, said: map[string]string{}, red: map[string]bool{}}
	g.copy(events)
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		g.put(Line{Event: End})
		return code
	}
	return fail(err)
}

// codeNotFound is the exit code of a shell for a program that cannot be started.
const codeNotFound = 127

// withJSON adds -json to the arguments of "go test"; nil where they are of another command, or already ask for a form of output.
func withJSON(args []string) (recorded []string, verbose bool) {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-C") {
		if at++; args[at-1] == "-C" {
			at++
		}
	}
	if at >= len(args) || args[at] != "test" {
		return nil, false
	}
	for _, a := range args[at+1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		if a == "-args" || a == "--args" {
			break
		}
		if strings.HasPrefix(a, "-") && slices.Contains([]string{"json", "c", "list", "n", "h", "help"}, name) && value != "false" {
			return nil, false
		}
		verbose = verbose || a == "-v" || a == "-v=true" || a == "-test.v"
	}
	return slices.Insert(slices.Clone(args), at+1, "-json"), verbose
}

// goEvents turns the events of "go test -json" into lines of a report, and into what people would have seen.
type goEvents struct {
	lines   *json.Encoder
	screen  io.Writer
	verbose bool
	said    map[string]string // output of open tests and packages
	red     map[string]bool   // packages with a test that failed
}

// goEvent is an event of cmd/test2json, and of cmd/go about builds.
type goEvent struct {
	Action      string `json:"Action"`
	ImportPath  string `json:"ImportPath"`
	Package     string `json:"Package"`
	Test        string `json:"Test"`
	Output      string `json:"Output"`
	FailedBuild string `json:"FailedBuild"`
}

// Bounds of one event, of the output that is kept of one test, and of the tests that it is kept of.
const (
	maxGoEvent  = 1 << 20
	maxGoOutput = 64 << 10
	maxGoOpen   = 10_000
)

func (g *goEvents) put(l Line) { _ = g.lines.Encode(l) } //nolint:errchkjson // a report that cannot be written has no end, and counts for nothing

func (g *goEvents) copy(from io.Reader) {
	g.put(Line{Event: Begin})
	in := bufio.NewReaderSize(from, maxGoEvent)
	for {
		line, err := in.ReadSlice('\n')
		var e goEvent
		if errors.Is(err, bufio.ErrBufferFull) || json.Unmarshal(line, &e) != nil || e.Action == "" {
			_, _ = g.screen.Write(line)
		} else {
			g.take(e)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (g *goEvents) take(e goEvent) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		if g.verbose || e.Test == "" && e.Output != "PASS\n" {
			fmt.Fprint(g.screen, e.Output)
		}
		if old, open := g.said[key]; (open || len(g.said) < maxGoOpen) && len(old) < maxGoOutput {
			g.said[key] = old + e.Output
		}
	case "build-output":
		fmt.Fprint(g.screen, e.Output)
		if old := g.said[e.ImportPath]; len(old) < maxGoOutput && len(g.said) < maxGoOpen {
			g.said[e.ImportPath] = old + e.Output
		}
	case "pass", "fail", "skip":
		g.ended(e, g.said[key])
		delete(g.said, key)
	}
}

func (g *goEvents) ended(e goEvent, said string) {
	l := Line{Event: Tried, Unit: e.Package, Name: e.Test, State: State(e.Action)}
	if l.State == Failed {
		l.Why = last(said, maxReportWhy)
		if e.Test == "" && (e.FailedBuild != "" || strings.Contains(said, "[build failed]") || strings.Contains(said, "[setup failed]")) {
			l.Build, l.Why = true, last("build failed: "+g.said[e.FailedBuild], maxReportWhy)
		}
		if e.Test != "" && !g.verbose {
			for line := range strings.Lines(said) {
				if !strings.HasPrefix(line, "=== ") { // marks of the beginning of tests, which only -v shows
					fmt.Fprint(g.screen, line)
				}
			}
		}
	}
	if e.Test == "" && l.State != Failed { // a package is no test, and tests tell how they ended themselves
		return
	}
	if e.Test == "" && g.red[e.Package] {
		return
	}
	g.red[e.Package] = g.red[e.Package] || l.State == Failed
	g.put(l)
}

// last is the end of a text, so many bytes at most.
func last(s string, most int) string {
	return strings.ToValidUTF8(s[max(0, len(s)-most):], "")
}
