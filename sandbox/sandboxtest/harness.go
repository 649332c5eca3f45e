package sandboxtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandboxrun/sandbox"
)

// Options are the environment of Conformance.
type Options struct {
	// Image is a local Linux image with a POSIX shell and coreutils.
	Image string
	// Runtime is the OCI runtime of every box, "" for the engine's default.
	Runtime string
	// OwnKernel says that the runtime brings a kernel of its own, as gVisor does: the host's kernel does not report
	// the processes of a box, and a limit on processes counts those of the runtime itself.
	OwnKernel bool
	// Overlay says that the engine can mount overlays of local directories.
	Overlay bool
	// Third, 1 to 3, is the third of the tests that this engine runs where not
	// every case is wanted: for engines that differ from one that runs them all
	// by the runtime only. 0 is every test.
	Third int
	// PlainPaths says that the engine refuses paths with a comma in them.
	PlainPaths bool
}

// patience bounds a test that would otherwise hang; a busy machine needs far less.
const patience = 3 * time.Minute

type suite struct {
	newEngine func(t *testing.T) sandbox.Engine
	options   Options
}

// room is one open box for a test.
type room struct {
	sandbox.Sandbox
	t      *testing.T
	ctx    context.Context
	engine sandbox.Engine
	spec   sandbox.Spec
}

// User is the user of processes in test boxes: never root, and able to write what the test creates.
func User() sandbox.User {
	if uid := os.Getuid(); uid != 0 {
		return sandbox.User{UID: uid, GID: os.Getgid()}
	}
	return sandbox.User{UID: 10001, GID: 10001}
}

// Dir makes a directory that belongs to User and is removed with the test.
func Dir(t testing.TB) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "box") //nolint:usetesting // names of tests hold what some engines refuse in a path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(parent); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(parent, "tree")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	give(t, dir)
	return dir
}

func give(t testing.TB, path string) {
	t.Helper()
	if u := User(); os.Getuid() == 0 {
		if err := os.Lchown(path, u.UID, u.GID); err != nil {
			t.Fatal(err)
		}
	}
}

// Spec is a small box with cat as its guest: it echoes its input and lives until its input is closed.
func Spec(t testing.TB, o Options) sandbox.Spec {
	t.Helper()
	return sandbox.Spec{
		Owner:   "t" + rand.Text(),
		Role:    "test",
		Image:   o.Image,
		Runtime: o.Runtime,
		User:    User(),
		Tree:    sandbox.Tree{Dir: Dir(t)},
		Guest:   []string{"/bin/cat"},
		Limits: sandbox.Limits{
			MemoryBytes: 256 << 20, TmpBytes: 16 << 20, OutputBytes: 64 << 20,
			DiskBytes: 256 << 20, CPUs: 1, PIDs: 256,
		},
	}
}

// open opens a box and, at the end of the test, closes it and checks that nothing of it is left.
func (s suite) open(t *testing.T, change func(*sandbox.Spec)) room {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	spec := Spec(t, s.options)
	if change != nil {
		change(&spec)
	}
	engine := s.newEngine(t)
	box, err := engine.Open(ctx, spec)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := box.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		NothingLeft(t, engine, spec)
	})
	return room{Sandbox: box, t: t, ctx: ctx, engine: engine, spec: spec}
}

// NothingLeft fails the test when the engine still knows an object of the owner of s or the kernel has one of its
// directories mounted.
func NothingLeft(t testing.TB, e sandbox.Engine, s sandbox.Spec) {
	t.Helper()
	left, err := e.Reap(context.WithoutCancel(t.Context()), func(owner string) bool { return owner != s.Owner })
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Error(err)
	}
	for _, dir := range append([]string{s.Tree.Dir, s.Tree.Upper}, s.Tree.Lower...) {
		if dir != "" && bytes.Contains(mounts, []byte(dir)) {
			t.Errorf("still mounted: %s", dir)
		}
	}
}

// result is the exit and the output of a finished process.
type result struct {
	sandbox.Exit
	out, err string
}

// sh runs a script and fails the test when Exec fails.
func (r room) sh(script string) result {
	r.t.Helper()
	res, err := r.try(r.ctx, script)
	if err != nil {
		r.t.Fatalf("exec %q: %v", script, err)
	}
	return res
}

func (r room) try(ctx context.Context, script string) (result, error) {
	var out, errs bytes.Buffer
	exit, err := r.Exec(ctx, sandbox.Command{Argv: []string{"/bin/sh", "-c", script}, Stdout: &out, Stderr: &errs})
	return result{exit, out.String(), errs.String()}, err
}

// want fails the test when the script does not print exactly out.
func (r room) want(script, out string) {
	r.t.Helper()
	if got := r.sh(script); strings.TrimSpace(got.out) != out {
		r.t.Errorf("%q printed %q, %q and exited %d; want %q", script, got.out, got.err, got.Code, out)
	}
}

// marker is a number of seconds that no other process of this machine sleeps.
func marker() string { return strconv.Itoa(100000 + int(time.Now().UnixNano()%800000000)) }

// processes counts the processes of this machine with word among their arguments.
func processes(t testing.TB, word string) int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range lines {
		argv, _ := os.ReadFile(line) // may have ended since
		for arg := range bytes.SplitSeq(argv, []byte{0}) {
			if string(arg) == word {
				n++
			}
		}
	}
	return n
}
