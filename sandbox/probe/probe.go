// Package probe inspects a live box from inside and reports what an attacker there could use: what the kernel lets a
// process do, and what it can see, write and reach. It runs in the box as this program's own static binary, asks the
// kernel instead of trusting files of the image, and changes nothing.
//
// Its result is a View. The Picture of a View is the part that does not differ between machines, as lines of text to
// be compared with an expected picture.
package probe

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// View is a box seen from inside.
type View struct {
	// Processes are the kernel's reports of the main process, of one started by exec, and of a child of that.
	Processes map[string]Process `json:"processes"`
	Visible   []Visible          `json:"visible_processes"`
	// Namespaces are the identities of the process's namespaces by kind.
	Namespaces map[string]string `json:"namespaces"`
	Cgroups    []string          `json:"cgroups"`  // lines of /proc/self/cgroup
	Syscalls   map[string]string `json:"syscalls"` // results of the attempts: "ok" or the error's name
	Sockets    map[string]string `json:"sockets"`  // the same by address family
	Mounts     []Mount           `json:"mounts"`
	Files      Files             `json:"files"`
	Kernel     Kernel            `json:"kernel"`
	Network    Network           `json:"network"`
	// Environment holds names only: values may be the task's own.
	Environment []string `json:"environment"`
}

// Visible is one visible process.
type Visible struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// maxVisible bounds how many processes are listed.
const maxVisible = 1000

// Look inspects the box this process runs in. reach are addresses, host:port, it tries to connect to. The end of ctx
// stops the search of the file system early.
func Look(ctx context.Context, reach []string) View {
	v := View{
		Processes:   processes(ctx),
		Visible:     visible(),
		Namespaces:  namespaces(),
		Cgroups:     lines("/proc/self/cgroup"),
		Syscalls:    trySyscalls(ctx),
		Sockets:     trySockets(),
		Mounts:      mounts(),
		Kernel:      inspectKernel(),
		Network:     inspectNetwork(ctx, reach),
		Environment: []string{},
	}
	v.Files = inspectFiles(ctx)
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		v.Environment = append(v.Environment, name)
	}
	slices.Sort(v.Environment)
	return v
}

// visible lists the processes in /proc.
func visible() []Visible {
	found := []Visible{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return found
	}
	for _, e := range entries {
		pid, ok := number(e.Name())
		if !ok || len(found) == maxVisible {
			continue
		}
		found = append(found, Visible{PID: pid, Name: strings.Join(lines(filepath.Join("/proc", e.Name(), "comm")), " ")})
	}
	return found
}

// namespaces reads the links of /proc/self/ns, and those of pid 1 that differ.
func namespaces() map[string]string {
	found := map[string]string{}
	for _, kind := range namespaceKinds {
		if link, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			found[kind] = link
		}
	}
	return found
}

// namespaceKinds are the namespaces of namespaces(7).
var namespaceKinds = []string{"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"}

// maxFile bounds what is read of one file of /proc or /sys, in bytes.
const maxFile = 1 << 20
