package probe

import (
	"slices"
	"strings"
	"testing"
)

var machine = Machine{Namespaces: map[string]string{"net": "net:[1]", "user": "user:[2]"}, Release: "6.1"}

// sampleView is a correct box.
func sampleView() View {
	box := Process{
		UIDs: "10001 10001 10001 10001", GIDs: "10001 10001 10001 10001", Groups: "10001",
		Caps: map[string]string{"CapEff": "0000000000000000"}, NoNewPrivs: "1", Seccomp: "2", Umask: "0022", Dumpable: "EACCES",
	}
	return View{
		Processes:  map[string]Process{"guest": box},
		Visible:    []Visible{{1, "guest"}, {9, "sh"}, {10, "guest"}},
		Namespaces: map[string]string{"net": "net:[7]", "user": "user:[2]"},
		Cgroups:    []string{"4:memory:/", "0::/"},
		Syscalls:   map[string]string{"mount": "EPERM", "ptrace": "ESRCH"},
		Sockets:    map[string]string{"inet": "ok", "vsock": "EPERM"},
		Mounts: []Mount{
			{At: "/", Type: "overlay", Flags: []string{"ro"}, Propagation: "private"},
			{At: "/proc/kcore", Type: "tmpfs", Flags: []string{"rw"}, Propagation: "private"},
			{At: "/sys/fs/cgroup/memory", Type: "cgroup", Flags: []string{"ro"}, Propagation: "private"},
		},
		Files:       Files{Writable: []string{"/tmp"}, Privileged: []Privileged{{"/bin/su", "setuid", false}}, Complete: true},
		Kernel:      Kernel{Release: "6.1", Secrets: map[string]string{"/proc/kcore": "empty"}, Switches: map[string]string{"/proc/sysrq-trigger": "EROFS"}},
		Network:     Network{Interfaces: []string{"lo"}, Reach: map[string]string{"172.17.0.1:80": "ENETUNREACH"}},
		Environment: []string{"HOME", "SSL_CERT_FILE"},
	}
}

func TestPictureIsTheSameOnEveryMachine(t *testing.T) {
	t.Parallel()
	got := sampleView().Picture(machine)
	for _, want := range []string{
		"process guest: user: one, not root", "process guest: CapEff: none", "namespace: net: its own", "namespace: user: the machine's",
		"cgroup: place of the box among the machine's: hidden", "system call: mount: denied", "system call: ptrace: reaches the kernel",
		"socket: inet: allowed", "mount: /: ro files", "mount: /sys/fs/cgroup: ro cgroups", "writable: /tmp: yes",
		"secret: /proc/kcore: nothing to read", "kernel: release: the machine's", "network: interface: lo", "environment: HOME: set",
		"visible processes: names: guest sh", "search of the file system: complete: true",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	// What differs between machines, or changes nothing, has no line.
	for _, line := range got {
		if strings.Contains(line, "/bin/su") || strings.Contains(line, "kcore: rw") || strings.Contains(line, "SSL_CERT_FILE") || strings.Contains(line, "172.17") {
			t.Errorf("line %q", line)
		}
	}
	// Another kernel, another user, another version of cgroups: the same picture.
	other := sampleView()
	other.Processes["guest"] = Process{
		UIDs: "1000 1000 1000 1000", GIDs: "100 100 100 100", Groups: "", Caps: map[string]string{"CapEff": "0000000000000000"},
		NoNewPrivs: "1", Seccomp: "2", Dumpable: "EACCES",
	}
	other.Cgroups = []string{"0::/"}
	other.Mounts[2] = Mount{At: "/sys/fs/cgroup", Type: "cgroup2", Flags: []string{"ro"}, Propagation: "private"}
	other.Mounts[0].Type = "btrfs"
	other.Kernel.Secrets["/proc/kcore"] = "ENOENT"
	other.Kernel.Release = "7.0"
	if diff := Compare(got, other.Picture(Machine{Namespaces: machine.Namespaces, Release: "7.0"})); diff != nil {
		t.Errorf("another machine's picture differs:\n%s", strings.Join(diff, "\n"))
	}
}

func TestPictureShowsEveryWeakness(t *testing.T) {
	t.Parallel()
	want := sampleView().Picture(machine)
	for name, weaken := range map[string]func(*View){
		"root":                   func(v *View) { v.Processes["guest"] = Process{UIDs: "0 0 0 0"} },
		"a second identity":      func(v *View) { p := v.Processes["guest"]; p.UIDs = "1 1 0 1"; v.Processes["guest"] = p },
		"one more group":         func(v *View) { p := v.Processes["guest"]; p.Groups = "10001 998"; v.Processes["guest"] = p },
		"a capability":           func(v *View) { v.Processes["guest"].Caps["CapEff"] = "0000000000000400" },
		"the machine's network":  func(v *View) { v.Namespaces["net"] = "net:[1]" },
		"a place among cgroups":  func(v *View) { v.Cgroups = []string{"0::/docker/1"} },
		"a system call":          func(v *View) { v.Syscalls["mount"] = "ENODEV" },
		"a namespace of its own": func(v *View) { v.Syscalls["unshare to a user namespace"] = "ok" },
		"a socket":               func(v *View) { v.Sockets["vsock"] = "ENODEV" },
		"a writable root":        func(v *View) { v.Mounts[0].Flags = []string{"rw"} },
		"one more mount":         func(v *View) { v.Mounts = append(v.Mounts, Mount{At: "/data", Type: "ext4", Propagation: "private"}) },
		"a shared mount":         func(v *View) { v.Mounts[0].Propagation = "shared:12" },
		"a writable mask": func(v *View) {
			v.Mounts = append(v.Mounts, Mount{At: "/proc/sys", Type: "proc", Flags: []string{"rw"}})
		},
		"writable cgroups":       func(v *View) { v.Mounts[2].Flags = []string{"rw"} },
		"a writable place":       func(v *View) { v.Files.Writable = append(v.Files.Writable, "/etc/passwd") },
		"a usable program":       func(v *View) { v.Files.Privileged[0].Usable = true },
		"a device":               func(v *View) { v.Files.Devices = []Device{{Path: "/dev/sda", Write: true}} },
		"a socket of the engine": func(v *View) { v.Files.Sockets = []string{"/var/run/docker.sock"} },
		"an unfinished search":   func(v *View) { v.Files.Complete = false },
		"a secret":               func(v *View) { v.Kernel.Secrets["/proc/kcore"] = "readable" },
		"a switch":               func(v *View) { v.Kernel.Switches["/proc/sysrq-trigger"] = "ok" },
		"a kernel parameter":     func(v *View) { v.Kernel.Writable = []string{"/proc/sys/kernel/core_pattern"} },
		"an interface":           func(v *View) { v.Network.Interfaces = []string{"eth0", "lo"} },
		"a route":                func(v *View) { v.Network.Routes = []string{"eth0 0"} },
		"a way out":              func(v *View) { v.Network.Reach["172.17.0.1:80"] = "ok" },
		"a way to a closed port": func(v *View) { v.Network.Reach["172.17.0.1:80"] = "ECONNREFUSED" },
		"an abstract socket":     func(v *View) { v.Network.Abstract = []string{"@/tmp/.X11-unix/X0"} },
		"a variable":             func(v *View) { v.Environment = append(v.Environment, "AWS_SECRET_ACCESS_KEY") },
		"a foreign process":      func(v *View) { v.Visible = append(v.Visible, Visible{77, "sshd"}) },
	} {
		v := sampleView()
		weaken(&v)
		if diff := Compare(want, v.Picture(machine)); len(diff) == 0 {
			t.Errorf("%s does not show", name)
		}
	}
}

func TestCompareShowsBothSides(t *testing.T) {
	t.Parallel()
	got := Compare([]string{"a: 1", "b: 1"}, []string{"b: 1", "a: 2", "c: 1"})
	if want := []string{"- a: 1", "+ a: 2", "+ c: 1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if diff := Compare([]string{"a"}, []string{"a"}); diff != nil {
		t.Errorf("equal pictures differ: %q", diff)
	}
}
