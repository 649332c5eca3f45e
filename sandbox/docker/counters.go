package docker

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sandboxrun/sandbox"
)

const (
	// counterGap is the pause between two readings of the kernel's counters.
	counterGap = 200 * time.Millisecond
	// oomGrace is how long an engine may take to report an out-of-memory kill
	// where the counters cannot be read.
	oomGrace = 400 * time.Millisecond
	cgroupFS = "/sys/fs/cgroup"
)

// watchCounters finds the box's cgroup and reads its counters until the box ends.
func (b *box) watchCounters() {
	b.work.Go(func() {
		made, err := b.inspect(b.life)
		if err == nil && made.State != nil {
			b.counters.locate(made.State.Pid, b.details.ID)
		}
		close(b.counters.located)
		if b.counters.memory == "" && b.counters.pids == "" {
			return
		}
		for b.life.Err() == nil {
			b.counters.check(b)
			wait(b.life, counterGap)
		}
	})
}

// locate finds the files by the cgroup of the main process. The id must occur in its path: the pid of a remote engine
// belongs to another process here.
func (c *counters) locate(pid int, id string) {
	if pid <= 0 {
		return
	}
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return
	}
	readable := func(path string) string {
		if _, err := os.ReadFile(path); err != nil {
			return ""
		}
		return path
	}
	for line := range strings.Lines(string(table)) {
		// hierarchy:controllers:path, cgroups(7); version 2 has no controllers.
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		i := strings.Index(path, id)
		if i < 0 {
			continue
		}
		c.pid = pid
		if end := strings.IndexByte(path[i:], '/'); end >= 0 {
			path = path[:i+end] // the box's own cgroup, not one made inside it
		}
		switch {
		case controllers == "" && c.memory == "" && c.pids == "":
			// On a mixed system this line exists too, without controllers.
			c.memory = readable(filepath.Join(cgroupFS, path, "memory.events"))
			c.procs = readable(filepath.Join(cgroupFS, path, "cgroup.procs"))
			c.pids = readable(filepath.Join(cgroupFS, path, "pids.events"))
		case controllers == "memory":
			c.memory = readable(filepath.Join(cgroupFS, "memory", path, "memory.oom_control"))
		case controllers == "pids":
			c.pids = readable(filepath.Join(cgroupFS, "pids", path, "pids.events"))
			c.procs = readable(filepath.Join(cgroupFS, "pids", path, "cgroup.procs"))
		}
	}
}

// check ends the box when a counter says that a limit was hit.
func (c *counters) check(b *box) {
	select {
	case <-c.located:
	default:
		return
	}
	if count(c.memory, "oom_kill") > 0 {
		b.end(memoryLimit(b.spec.Limits))
	}
	if refused := count(c.pids, "max"); refused > 0 {
		most := b.spec.Limits.PIDs
		b.end(&sandbox.LimitError{
			Limit: sandbox.LimitPIDs, Which: sandbox.MeasurePIDs, Allowed: most, Measured: most + 1,
			Detail: fmt.Sprintf("more than %d processes and threads; %d attempts refused", most, refused),
		})
	}
}

// count reads one "name number" line of a counter file; 0 when there is none.
func count(path, name string) int64 {
	if path == "" {
		return 0
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseInt(value, 10, 64); key == name && err == nil {
			return n
		}
	}
	return 0
}

// awaitOOM gives the engine a moment to report that a process killed by SIGKILL ran out of memory.
func (b *box) awaitOOM() {
	grace, cancel := context.WithTimeout(b.life, oomGrace)
	defer cancel()
	select {
	case <-b.oom:
	case <-grace.Done():
	}
}

func memoryLimit(l sandbox.Limits) error {
	return &sandbox.LimitError{
		Limit: sandbox.LimitMemory, Which: sandbox.MeasureMemory, Allowed: l.MemoryBytes, Measured: l.MemoryBytes + 1,
		Detail: fmt.Sprintf("more than %d bytes of memory", l.MemoryBytes),
	}
}
