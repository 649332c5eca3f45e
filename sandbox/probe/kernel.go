package probe

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Kernel is what the box can learn about the kernel, and where it could write to it.
type Kernel struct {
	Release string `json:"release"`
	// Secrets are files with information about the machine or other processes, and the result of reading them:
	// "absent", "empty", an error's name, or "readable".
	Secrets map[string]string `json:"secrets"`
	// Switches are files that change the machine, and the result of opening them for writing. Nothing is written.
	Switches map[string]string `json:"switches"`
	// Writable lists everything below /proc/sys and /sys that can be written.
	Writable []string `json:"writable"`
}

// secrets are files that runtimes usually hide from containers.
var secrets = []string{
	"/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/sched_debug", "/proc/timer_list", "/proc/latency_stats",
	"/proc/kpagecount", "/proc/kpageflags", "/proc/vmallocinfo", "/proc/slabinfo", "/proc/1/environ", "/proc/1/mem", "/proc/1/maps",
	"/proc/scsi", "/proc/acpi", "/sys/firmware", "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security", "/dev/mem", "/dev/kmsg",
}

// switches change the machine or its behaviour.
var switches = []string{
	"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug",
	"/proc/sys/kernel/sysrq", "/proc/sys/vm/panic_on_oom", "/proc/sys/fs/binfmt_misc/register", "/proc/sys/net/ipv4/ip_forward",
	"/proc/self/oom_score_adj", "/proc/1/oom_score_adj", "/proc/1/mem", "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/fs/cgroup/release_agent",
	"/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs",
	"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/pids.max",
}

func inspectKernel() Kernel {
	k := Kernel{Secrets: map[string]string{}, Switches: map[string]string{}}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		k.Release = unix.ByteSliceToString(u.Release[:])
	}
	for _, path := range secrets {
		k.Secrets[path] = readable(path)
	}
	k.Secrets["/proc/kallsyms"] = symbols()
	for _, path := range switches {
		k.Switches[path] = openable(path)
	}
	k.Writable = append(writableBelow("/proc/sys"), writableBelow("/sys")...)
	return k
}

// readable returns the result of reading the first bytes of a file or the names of a directory.
func readable(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return errorName(err)
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	if err == unix.EISDIR {
		if n, err = unix.ReadDirent(fd, buf); err == nil {
			_, _, names := unix.ParseDirent(buf[:n], 10, nil)
			n = len(names)
		}
	}
	switch {
	case err != nil:
		return errorName(err)
	case n == 0:
		return "empty"
	}
	return "readable"
}

// symbols reports whether addresses of the kernel are shown; without privilege they are all zero.
func symbols() string {
	text, err := head("/proc/kallsyms")
	if err != nil {
		return errorName(err)
	}
	for line := range strings.Lines(string(text)) {
		if address, _, _ := strings.Cut(line, " "); strings.Trim(address, "0") != "" {
			return "readable"
		}
	}
	return "empty"
}

func openable(path string) string {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return errorName(err)
	}
	return errorName(unix.Close(fd))
}
