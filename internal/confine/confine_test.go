package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// dirEnv makes the test program a confined process that tries what it can do; its value is a directory with what it may use.
const dirEnv = "CONFINE_TEST_DIR"

// marksEnv makes it one that reads the marks of overlays.
const marksEnv = "CONFINE_TEST_MARKS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirEnv); dir != "" {
		os.Exit(inmate(dir))
	}
	os.Exit(m.Run())
}

// attempts are what a confined process tries, and whether it must succeed.
var attempts = map[string]struct {
	try  func(dir string) error
	free bool
	land bool // Landlock refuses it, and nothing else
}{
	"read a permitted file":  {try: func(dir string) error { _, err := os.ReadFile(dir + "/read/file"); return err }, free: true},
	"list a permitted one":   {try: func(dir string) error { _, err := os.ReadDir(dir + "/read"); return err }, free: true},
	"open a file by openat2": {try: openat2, free: true},
	"change a mode":          {try: func(dir string) error { return os.Chmod(dir+"/read/file", 0o644) }, free: true},
	"write a new file":       {try: func(dir string) error { return os.WriteFile(dir+"/write/new", []byte("x"), 0o600) }, free: true},
	"rename between two":     {try: renameBetween, free: true},
	"remove a file":          {try: func(dir string) error { return os.Remove(dir + "/write/old") }, free: true},
	"start threads":          {try: threads, free: true},
	"read another file":      {try: func(dir string) error { _, err := os.ReadFile(dir + "/other"); return err }, land: true},
	"read /etc/passwd":       {try: func(string) error { _, err := os.ReadFile("/etc/passwd"); return err }, land: true},
	"list /":                 {try: func(string) error { _, err := os.ReadDir("/"); return err }, land: true},
	"write a read-only file": {try: func(dir string) error { return os.WriteFile(dir+"/read/file", nil, 0o600) }, land: true},
	"make a read-only file":  {try: func(dir string) error { return os.WriteFile(dir+"/read/new", nil, 0o600) }, land: true},
	"write elsewhere":        {try: func(dir string) error { return os.WriteFile(dir+"/escaped", nil, 0o600) }, land: true},
	"read through a link":    {try: func(dir string) error { _, err := os.ReadFile(dir + "/read/link"); return err }, land: true},
	"move out":               {try: func(dir string) error { return os.Rename(dir+"/write/a/kept", dir+"/moved") }, land: true},
	"write too large a file": {try: func(dir string) error { return os.WriteFile(dir+"/write/large", make([]byte, 2<<20), 0o600) }},
	"connect by TCP": {try: func(string) error {
		_, err := net.DialTimeout("tcp", "127.0.0.1:1", time.Second)
		return refusedByPolicy(err)
	}},
	"open a socket":   {try: func(string) error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
	"start a program": {try: func(string) error { return exec.Command("/bin/true").Run() }},
	"fork": {try: func(string) error {
		_, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		return errnoOf(e)
	}},
	"trace":                   {try: func(string) error { return unix.PtraceAttach(os.Getppid()) }},
	"poison memory":           {try: poison},
	"set a trusted attribute": {try: func(dir string) error { return unix.Setxattr(dir+"/write/kept", "trusted.x", []byte("x"), 0) }},
	"mount":                   {try: func(dir string) error { return unix.Mount("none", dir+"/write", "tmpfs", 0, "") }},
	"make a namespace":        {try: func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
	"signal its parent":       {try: func(string) error { return unix.Kill(os.Getppid(), 0) }},
	"signal a foreign thread": {try: func(string) error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) }},
	"become another user":     {try: func(string) error { return errnoOf(rawCall(unix.SYS_SETUID, 12345)) }},
	"give a file away":        {try: func(dir string) error { return os.Chown(dir+"/write/new", 1, 1) }},
	"make a device":           {try: func(dir string) error { return unix.Mknod(dir+"/write/null", unix.S_IFCHR|0o666, 0x103) }},
	"raise a limit":           {try: func(string) error { return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1000, Max: 1000}) }},
	"watch memory of others":  {try: func(string) error { _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid())); return err }, land: true},
}

// poison asks the kernel to take a page of memory out of use.
func poison(string) error {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	return unix.Madvise(page, 101) // MADV_SOFT_OFFLINE
}

// readMark reads an attribute that only root can read.
func readMark(dir string) string {
	f, err := os.Open(dir + "/read/marked")
	if err != nil {
		return err.Error()
	}
	value := make([]byte, 10)
	n, err := unix.Fgetxattr(int(f.Fd()), "trusted.mark", value)
	if err != nil {
		return err.Error()
	}
	return string(value[:n])
}

func rawCall(nr, a uintptr) unix.Errno { _, _, e := unix.RawSyscall(nr, a, 0, 0); return e }

func errnoOf(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// refusedByPolicy is nil for an error that a connection gets from the network.
func refusedByPolicy(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	return err
}

func openat2(dir string) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, dir+"/read/file", &unix.OpenHow{Flags: unix.O_RDONLY, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func renameBetween(dir string) error { return os.Rename(dir+"/write/a/file", dir+"/write/b/file") }

func threads(string) error {
	done := make(chan struct{})
	for range 20 {
		go func() {
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 5_000_000}, nil) // holds a thread
			done <- struct{}{}
		}()
	}
	for range 20 {
		<-done
	}
	return nil
}

// outcome is what an inmate reports.
type outcome struct {
	Lacking Lacking           `json:"lacking"`
	Failed  map[string]string `json:"failed"` // by attempt, "" for one that succeeded
	Mark    string            `json:"mark"`   // of a file, or why it cannot be read
	Status  string            `json:"status"` // /proc/self/status, as it was opened before
}

func inmate(dir string) int {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		panic(err)
	}
	// The race detector maps terabytes: memory is limited in the tests of package reader.
	lacking, err := Self(Limits{MemoryBytes: 1 << 60, CPU: 20 * time.Second, FileBytes: 1 << 20, Files: 100},
		Paths{Read: []string{dir + "/read"}, Write: []string{dir + "/write"}, Marks: os.Getenv(marksEnv) != ""})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out := outcome{Lacking: lacking, Failed: map[string]string{}}
	for name, a := range attempts {
		text := ""
		if err := a.try(dir); err != nil {
			text = err.Error()
		}
		out.Failed[name] = text
	}
	out.Mark = readMark(dir)
	text := make([]byte, 64<<10)
	n, _ := status.Read(text)
	out.Status = string(text[:n])
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return 1
	}
	return 0
}

func TestAConfinedProcessCanDoItsWorkAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, marks := range map[string]string{"without marks": "", "with marks": "yes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			confined(t, marks)
		})
	}
}

func confined(t *testing.T, marks string) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"read", "write/a", "write/b"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"read/file", "other", "write/old", "write/kept", "write/a/file", "write/a/kept", "read/marked"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := unix.Setxattr(filepath.Join(dir, "read/marked"), "trusted.mark", []byte("marked"), 0) == nil
	if err := os.Symlink("../other", filepath.Join(dir, "read/link")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{dirEnv + "=" + dir, marksEnv + "=" + marks}
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var got outcome
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	landlock := LandlockVersion() > 0
	if landlock != (len(got.Lacking) == 0) {
		t.Errorf("Landlock %d, lacking %q", LandlockVersion(), got.Lacking)
	}
	for name, a := range attempts {
		failed, tried := got.Failed[name]
		switch {
		case !tried:
			t.Errorf("%s: not tried", name)
		case a.free && failed != "":
			t.Errorf("%s: %s", name, failed)
		case !a.free && failed == "" && (landlock || !a.land):
			t.Errorf("%s: succeeded", name)
		}
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(got.Status, want) {
			t.Errorf("status lacks %q:\n%s", want, got.Status)
		}
	}
	capabilities := "CapEff:\t000000000000000e\n"
	if marks != "" {
		capabilities = "CapEff:\t000000000020000e\n"
	}
	if os.Getuid() == 0 && !strings.Contains(got.Status, capabilities) {
		t.Errorf("capabilities:\n%s", got.Status)
	}
	if root && (got.Mark == "marked") != (marks != "") {
		t.Errorf("the mark of a file: %s", got.Mark)
	}
	if _, err := os.Stat(filepath.Join(dir, "escaped")); landlock && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made elsewhere: %v", err)
	}
}
