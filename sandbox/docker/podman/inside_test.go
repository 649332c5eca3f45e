package podman

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/moby/sys/mountinfo"

	"sandboxrun/sandbox"
)

func sampleRequest() Request {
	pids, user := int64(512), sandbox.User{UID: 10001, GID: 10002}
	return Request{
		Config: &container.Config{User: "10001:10002"},
		Host: &container.HostConfig{
			Mounts: []mount.Mount{
				{Target: sandbox.WorkDir},
				{Target: "/sandboxrun/guest", ReadOnly: true},
				{Target: "/etc/hosts", ReadOnly: true},
			},
			Tmpfs: map[string]string{
				sandbox.TempDir: Tmpfs(user, 512<<20, "exec,mode=1777"),
				sandbox.Home:    Tmpfs(user, 512<<20, "exec,mode=0700"),
				"/run":          Tmpfs(user, 16<<20, "noexec,mode=0755"),
				"/var/tmp":      Tmpfs(user, 512<<20, "exec,mode=1777"),
			},
			Resources: container.Resources{Memory: 2 << 30, MemorySwap: 2 << 30, PidsLimit: &pids},
		},
	}
}

// sampleView is the output of a probe in a box that is as sampleRequest requests.
func sampleView(t *testing.T, r Request) view {
	t.Helper()
	status := "Uid:\t10001\t10001\t10001\t10001,Gid:\t10002\t10002\t10002\t10002,Groups:\t10002 ,CapInh:\t0000000000000000,CapPrm:\t0000000000000000," +
		"CapEff:\t0000000000000000,CapBnd:\t0000000000000000,CapAmb:\t0000000000000000,NoNewPrivs:\t1,Seccomp:\t2"
	v := view{
		id: "0123456789ab",
		files: map[string][]string{
			"/proc/1/status": strings.Split(status, ","), "/proc/self/status": strings.Split(status, ","),
			"/proc/self/cgroup":              {"0::/"},
			"/proc/net/dev":                  {"Inter-|   Receive", " face |bytes", "    lo:       0"},
			"/sys/fs/cgroup/memory.max":      {"2147483648"},
			"/sys/fs/cgroup/memory.swap.max": {"0"},
			"/sys/fs/cgroup/pids.max":        {"512"},
		},
		there:    []string{"/proc/kcore", "/proc/sys"},
		writable: tmpfsTargets(r),
	}
	add := func(point, kind, options, super string) {
		v.mounts = append(v.mounts, &mountinfo.Info{Mountpoint: point, FSType: kind, Options: options, VFSOptions: super, Root: "/"})
	}
	add("/", "overlay", "ro,relatime", "rw")
	add("/proc", "proc", "rw,nosuid", "rw")
	add("/proc/kcore", "tmpfs", "rw,nosuid", "rw,size=65536k")
	add("/proc/sys", "proc", "ro,nosuid", "rw")
	add("/dev", "tmpfs", "rw,nosuid", "rw")
	add("/sys", "sysfs", "ro,nosuid", "rw")
	add("/sys/fs/cgroup", "cgroup2", "ro,nosuid", "rw")
	add("/etc/passwd", "ext4", "ro,nosuid", "rw")
	for _, m := range r.Host.Mounts {
		options := "rw"
		if m.ReadOnly {
			options = "ro"
		}
		add(m.Target, "ext4", options, "rw")
	}
	for target, options := range r.Host.Tmpfs {
		size := "524288k"
		if target == "/run" {
			size = "16384k"
		}
		options, _, _ = strings.Cut(options, ",size=")
		add(target, "tmpfs", options, "rw,size="+size)
	}
	return v
}

func TestProbeAcceptsRequestedBox(t *testing.T) {
	t.Parallel()
	r := sampleRequest()
	if err := sampleView(t, r).keeps(r); err != nil {
		t.Error(err)
	}
	// The same on cgroup v1, where there is no namespace for cgroups.
	v := sampleView(t, r)
	v.cgroupV1 = true
	v.files["/proc/self/cgroup"] = []string{"4:memory:/parent/libpod-" + v.id}
	maps.DeleteFunc(v.files, func(name string, _ []string) bool { return strings.HasPrefix(name, "/sys/fs/cgroup") })
	v.files["/sys/fs/cgroup"+"/memory/memory.limit_in_bytes"] = []string{"2147483648"}
	v.files["/sys/fs/cgroup"+"/memory/memory.memsw.limit_in_bytes"] = []string{"2147483648"}
	v.files["/sys/fs/cgroup"+"/pids/pids.max"] = []string{"512"}
	m := v.mount("/sys/fs/cgroup")
	m.FSType = "tmpfs"
	v.mounts = append(v.mounts, &mountinfo.Info{Mountpoint: "/sys/fs/cgroup/memory", FSType: "cgroup", Options: "ro", Root: "/parent/libpod-" + v.id})
	if err := v.keeps(r); err != nil {
		t.Error(err)
	}
	v.mounts[len(v.mounts)-1].Root = "/"
	if err := v.keeps(r); err == nil {
		t.Error("all cgroups of the machine: no error")
	}
}

func TestProbeNoticesBrokenPromises(t *testing.T) {
	t.Parallel()
	status := func(file, old, now string) func(*view) {
		return func(v *view) {
			for i, line := range v.files[file] {
				if strings.HasPrefix(line, old) {
					v.files[file][i] = now
				}
			}
		}
	}
	file := func(name string, lines ...string) func(*view) { return func(v *view) { v.files[name] = lines } }
	options := func(point, text string) func(*view) { return func(v *view) { v.mount(point).Options = text } }
	unmounted := func(point string) func(*view) {
		return func(v *view) {
			v.mounts = slices.DeleteFunc(v.mounts, func(m *mountinfo.Info) bool { return m.Mountpoint == point })
		}
	}
	for name, tamper := range map[string]func(*view){
		"root":                      status("/proc/self/status", "Uid", "Uid:\t10001\t0\t0\t0"),
		"root as first process":     status("/proc/1/status", "Uid", "Uid:\t0\t0\t0\t0"),
		"group root":                status("/proc/1/status", "Gid", "Gid:\t0\t0\t0\t0"),
		"one more group":            status("/proc/self/status", "Groups", "Groups:\t10002 999"),
		"a capability":              status("/proc/self/status", "CapEff", "CapEff:\t0000000000000400"),
		"a capability to be gained": status("/proc/1/status", "CapBnd", "CapBnd:\t000001ffffffffff"),
		"no ambient capabilities":   status("/proc/1/status", "CapAmb", "Other:\t0"),
		"new privileges":            status("/proc/self/status", "NoNewPrivs", "NoNewPrivs:\t0"),
		"no filter":                 status("/proc/self/status", "Seccomp", "Seccomp:\t0"),
		"no status":                 file("/proc/1/status"),
		"writable root":             options("/", "rw,relatime"),
		"writable bind":             options("/sandboxrun/guest", "rw"),
		"bind missing":              unmounted("/sandboxrun/guest"),
		"tree missing":              unmounted(sandbox.WorkDir),
		"unmasked":                  unmounted("/proc/kcore"),
		"writable kernel settings":  options("/proc/sys", "rw"),
		"writable sysfs":            options("/sys", "rw"),
		"writable cgroups":          options("/sys/fs/cgroup", "rw"),
		"writable users":            options("/etc/passwd", "rw"),
		"suid in home":              options(sandbox.Home, "rw,nodev"),
		"programs in run":           options("/run", "rw,nosuid,nodev"),
		"unbounded home":            func(v *view) { v.mount(sandbox.Home).VFSOptions = "rw" },
		"bigger home":               func(v *view) { v.mount(sandbox.Home).VFSOptions = "rw,size=1048576k" },
		"home on disk":              func(v *view) { v.mount(sandbox.Home).FSType = "ext4" },
		"home not writable":         func(v *view) { v.writable = nil },
		"one more mount": func(v *view) {
			v.mounts = append(v.mounts, &mountinfo.Info{Mountpoint: "/data", FSType: "ext4", Options: "ro"})
		},
		"a mask that shows":    func(v *view) { v.mount("/proc/kcore").FSType = "ext4" },
		"a network":            file("/proc/net/dev", "    lo: 0", "  eth0: 0"),
		"no loopback":          file("/proc/net/dev"),
		"the engine's cgroups": file("/proc/self/cgroup", "0::/machine.slice/libpod-0123456789ab.scope"),
		"no cgroups":           file("/proc/self/cgroup"),
		"more memory":          file("/sys/fs/cgroup/memory.max", "2147487744"),
		"unlimited memory":     file("/sys/fs/cgroup/memory.max", "max"),
		"swap":                 file("/sys/fs/cgroup/memory.swap.max", "4096"),
		"no swap figure":       file("/sys/fs/cgroup/memory.swap.max"),
		"unlimited processes":  file("/sys/fs/cgroup/pids.max", "max"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sampleRequest()
			v := sampleView(t, r)
			tamper(&v)
			refused, ok := errors.AsType[*sandbox.PolicyError](v.keeps(r))
			if !ok || refused.Promise == "" || refused.Got == "" {
				t.Errorf("got %v", refused)
			}
		})
	}
}
