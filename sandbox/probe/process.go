package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Process is the kernel's report of one process.
type Process struct {
	UIDs   string            `json:"uids"` // real, effective, saved, file system
	GIDs   string            `json:"gids"`
	Groups string            `json:"groups"`
	Caps   map[string]string `json:"capabilities"` // five sets, hexadecimal
	// NoNewPrivs and Seccomp are the fields of proc(5); 2 is a filter.
	NoNewPrivs string            `json:"no_new_privs"`
	Seccomp    string            `json:"seccomp"`
	Umask      string            `json:"umask"`
	Limits     map[string]string `json:"limits,omitempty"` // soft:hard, of this process only
	OOMScore   string            `json:"oom_score_adj,omitempty"`
	Confined   string            `json:"confined,omitempty"` // label of a security module
	Dumpable   string            `json:"memory_readable,omitempty"`
}

// ChildArgument makes the probe's program only describe itself.
const ChildArgument = "--child"

// processes describes the main process, this one and a child.
func processes(ctx context.Context) map[string]Process {
	found := map[string]Process{"guest": describe("/proc/1"), "exec": Self()}
	if child, err := child(ctx); err == nil {
		found["child"] = child
	}
	return found
}

// Self describes this process.
func Self() Process {
	p := describe("/proc/self")
	p.Limits = limits()
	return p
}

// describe reads the directory of a process.
func describe(dir string) Process {
	p := Process{Caps: map[string]string{}}
	for _, line := range lines(dir + "/status") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.Join(strings.Fields(value), " ")
		switch name {
		case "Uid":
			p.UIDs = value
		case "Gid":
			p.GIDs = value
		case "Groups":
			p.Groups = value
		case "NoNewPrivs":
			p.NoNewPrivs = value
		case "Seccomp":
			p.Seccomp = value
		case "Umask":
			p.Umask = value
		case "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
			p.Caps[name] = value
		}
	}
	p.OOMScore = strings.Join(lines(dir+"/oom_score_adj"), " ")
	p.Confined = strings.TrimRight(strings.Join(lines(dir+"/attr/current"), " "), "\x00")
	p.Dumpable = memory(dir)
	return p
}

// memory reports whether the memory of a process could be opened for writing.
func memory(dir string) string {
	if dir == "/proc/self" {
		return "own"
	}
	f, err := os.OpenFile(dir+"/mem", os.O_RDWR, 0)
	if err != nil {
		return errorName(err)
	}
	_ = f.Close() // nothing was written
	return "ok"
}

// limits reads the resource limits of this process.
func limits() map[string]string {
	found := map[string]string{}
	for name, resource := range map[string]int{
		"core": unix.RLIMIT_CORE, "fsize": unix.RLIMIT_FSIZE, "nofile": unix.RLIMIT_NOFILE,
		"nproc": unix.RLIMIT_NPROC, "memlock": unix.RLIMIT_MEMLOCK, "stack": unix.RLIMIT_STACK,
	} {
		var r unix.Rlimit
		if err := unix.Getrlimit(resource, &r); err == nil {
			found[name] = bound(r.Cur) + ":" + bound(r.Max)
		}
	}
	return found
}

func bound(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

// child runs this program once more to describe itself.
func child(ctx context.Context) (p Process, err error) {
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self, "look", ChildArgument)
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return p, fmt.Errorf("child: %w", err)
	}
	return p, json.Unmarshal(out.Bytes(), &p)
}

// lines reads a small file of the kernel, nil when it is unreadable.
func lines(path string) []string {
	text, err := head(path)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// head reads the beginning of a file without ever blocking on it.
func head(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, maxFile))
}

func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0
}
