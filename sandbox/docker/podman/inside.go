package podman

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"

	"io"

	"sandboxrun/sandbox"
)

// Inspect compares the output of Probe, run in a new box where only the guest runs yet, with the request. It fails
// with *sandbox.PolicyError where the kernel gives the box something else.
func Inspect(r Request, id string, about sandbox.Info, out io.Reader, exitCode int) error {
	seen, err := parseView(out)
	if err != nil || exitCode != 0 {
		return &sandbox.PolicyError{
			Promise: "a box that can be inspected from inside with /bin/sh",
			Got:     fmt.Sprintf("exit status %d, %v", exitCode, err),
		}
	}
	seen.id, seen.cgroupV1 = id, about.CgroupVersion == "1"
	return seen.keeps(r)
}

// engineMounts are made by the engine itself. They must be read-only unless they are in writableMounts.
var (
	engineMounts   = []string{"/etc/passwd", "/etc/group", "/run/.containerenv", "/run/secrets", "/dev/init", "/run/podman-init"}
	writableMounts = map[string]string{"/proc": "proc", "/dev": "tmpfs", "/dev/pts": "devpts", "/dev/mqueue": "mqueue", "/dev/shm": "tmpfs"}
)

// keeps compares the output of a probe with the request.
func (v view) keeps(r Request) error {
	for _, check := range []func(Request) error{v.powerless, v.mounted, v.hidden, v.alone, v.enclosed, v.limited} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// powerless requires of the first process and of one started by exec: the requested user, no capability, no way to
// gain one, and a filter for system calls.
func (v view) powerless(r Request) error {
	uid, gid, _ := strings.Cut(r.Config.User, ":")
	for _, file := range []string{"/proc/1/status", "/proc/self/status"} {
		for name, want := range map[string]string{
			"Uid": strings.Repeat(uid+"\t", 3) + uid, "Gid": strings.Repeat(gid+"\t", 3) + gid,
			"NoNewPrivs": "1", "Seccomp": "2",
		} {
			if got := v.field(file, name); got != want {
				return broken(file+": "+name+" "+want, got)
			}
		}
		for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if got := v.field(file, name); got == "" || strings.Trim(got, "0") != "" {
				return broken(file+": "+name+" 0", got)
			}
		}
		for group := range strings.FieldsSeq(v.field(file, "Groups")) {
			if group != gid {
				return broken(file+": no group but "+gid, group)
			}
		}
	}
	return nil
}

// mounted requires the requested mounts, a read-only root, and no others except those of the kernel and the engine.
func (v view) mounted(r Request) error {
	asked := map[string]bool{} // whether it may be writable
	for _, m := range r.Host.Mounts {
		asked[m.Target] = !m.ReadOnly
	}
	for _, target := range append(slices.Collect(maps.Keys(asked)), append(tmpfsTargets(r), "/")...) {
		if v.mount(target) == nil {
			return broken("a mount at "+target, "none")
		}
	}
	for _, m := range v.mounts {
		mayWrite, ours := asked[m.Mountpoint]
		switch {
		case r.Host.Tmpfs[m.Mountpoint] != "":
			if err := v.tmpfs(m, r.Host.Tmpfs[m.Mountpoint]); err != nil {
				return err
			}
		case mayWrite, writableMounts[m.Mountpoint] == m.FSType:
		case within(m.Mountpoint, "/proc") && (m.FSType == "tmpfs" || m.FSType == "devtmpfs"):
			// A mask: an empty directory or /dev/null, owned by root.
		case m.Mountpoint == "/sys/fs/cgroup" && m.FSType == "tmpfs":
			// The mount point of cgroup v1, owned by root too.
		case ours, m.Mountpoint == "/", within(m.Mountpoint, "/proc"), within(m.Mountpoint, "/sys"), slices.Contains(engineMounts, m.Mountpoint):
			if !has(m, "ro") {
				return broken(m.Mountpoint+" read-only", m.Options)
			}
		default:
			return broken("no mount but the requested ones", m.FSType+" at "+m.Mountpoint)
		}
	}
	return nil
}

// tmpfs requires a writable temporary directory of the requested size.
func (v view) tmpfs(m *mountinfo.Info, asked string) error {
	for o := range strings.SplitSeq(asked, ",") {
		size, isSize := strings.CutPrefix(o, "size=")
		switch {
		case (o == "nosuid" || o == "nodev" || o == "noexec") && !has(m, o):
			return broken(m.Mountpoint+" "+o, m.Options)
		case isSize && tmpfsSize(m) != size:
			return broken(m.Mountpoint+" of "+size+" bytes", m.VFSOptions)
		}
	}
	if m.FSType != "tmpfs" || !slices.Contains(v.writable, m.Mountpoint) {
		return broken("a temporary directory at "+m.Mountpoint, m.FSType+" that cannot be written")
	}
	return nil
}

// tmpfsSize is the size in bytes of a tmpfs, which the kernel states in KiB.
func tmpfsSize(m *mountinfo.Info) string {
	for o := range strings.SplitSeq(m.VFSOptions, ",") {
		if text, ok := strings.CutPrefix(o, "size="); ok {
			if n, err := strconv.ParseInt(strings.TrimSuffix(text, "k"), 10, 64); err == nil && strings.HasSuffix(text, "k") {
				return strconv.FormatInt(n<<10, 10)
			}
			return text
		}
	}
	return "any"
}

// hidden requires that the kernel's secret files are masked where they exist, and its settings read-only.
func (v view) hidden(Request) error {
	for _, path := range v.there {
		m := v.mount(path)
		switch {
		case m == nil:
			return broken(path+" out of reach", "no mount over it")
		case slices.Contains(maskedPaths, path) && m.FSType != "tmpfs" && m.FSType != "devtmpfs":
			return broken(path+" masked", m.FSType)
		case slices.Contains(frozenPaths, path) && !has(m, "ro"):
			return broken(path+" read-only", m.Options)
		}
	}
	return nil
}

// alone requires that loopback is the only network interface.
func (v view) alone(Request) error {
	interfaces := 0
	for _, line := range v.files["/proc/net/dev"] {
		name, _, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue // a heading
		}
		if interfaces++; name != "lo" {
			return broken("no network but loopback", name)
		}
	}
	if interfaces != 1 {
		return broken("a loopback interface", strconv.Itoa(interfaces)+" interfaces")
	}
	return nil
}

// enclosed requires a cgroup namespace of the box's own, in which the box is the root. Podman ignores the request:
// with cgroup v2 that is its default, with v1 there is none. There the box may know its place among the cgroups, but
// sees none but its own.
func (v view) enclosed(Request) error {
	groups := v.files["/proc/self/cgroup"]
	if len(groups) == 0 {
		return broken("a cgroup that can be inspected", "nothing")
	}
	own := func(path string) bool { return v.cgroupV1 && strings.Contains(path, v.id) }
	private := true
	for _, line := range groups {
		// hierarchy:controllers:path, cgroups(7)
		parts := strings.SplitN(line, ":", 3)
		path := parts[len(parts)-1]
		private = private && path == "/"
		if path != "/" && !own(path) {
			return broken("a cgroup namespace of its own", path)
		}
	}
	for _, m := range v.mounts {
		if strings.HasPrefix(m.FSType, "cgroup") && !private && !own(m.Root) {
			return broken("no cgroup but its own at "+m.Mountpoint, m.Root)
		}
	}
	return nil
}

// limited requires that the kernel's own figures are at most the requested ones; the kernel rounds memory down to
// pages.
func (v view) limited(r Request) error {
	type figure struct {
		name, v2, v1   string
		wantV2, wantV1 int64
	}
	h := r.Host
	for _, f := range []figure{
		{"memory limit", "memory.max", "memory/memory.limit_in_bytes", h.Memory, h.Memory},
		// Version 1 counts memory and swap together, version 2 swap alone.
		{"swap limit", "memory.swap.max", "memory/memory.memsw.limit_in_bytes", h.MemorySwap - h.Memory, h.MemorySwap},
		{"process limit", "pids.max", "pids/pids.max", *h.PidsLimit, *h.PidsLimit},
	} {
		lines, want := v.files["/sys/fs/cgroup/"+f.v2], f.wantV2
		if len(lines) == 0 {
			lines, want = v.files["/sys/fs/cgroup/"+f.v1], f.wantV1
		}
		got := strings.Join(lines, " ")
		if n, err := strconv.ParseInt(got, 10, 64); err != nil || n > want {
			return broken(fmt.Sprintf("%s %d", f.name, want), "the kernel's "+strconv.Quote(got))
		}
	}
	return nil
}

func has(m *mountinfo.Info, option string) bool {
	return slices.Contains(strings.Split(m.Options, ","), option)
}

func broken(promise, got string) error {
	if len(got) > maxQuote {
		got = got[:maxQuote] + "…"
	}
	return &sandbox.PolicyError{Promise: promise, Got: got + " (seen from inside)"}
}

// maxQuote bounds what an error quotes of a box, in bytes.
const maxQuote = 200

// within reports whether p is dir or below it.
func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
