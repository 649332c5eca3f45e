package probe

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is the machine a box runs on, for comparison with the box's view.
type Machine struct {
	Namespaces map[string]string
	Release    string // of the kernel
}

// ThisMachine describes the machine this process runs on.
func ThisMachine() Machine {
	m := Machine{Namespaces: namespaces()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Release = unix.ByteSliceToString(u.Release[:])
	}
	return m
}

// Picture is the view as sorted lines that are the same on every machine with the same runtime: what differs with
// kernels, file systems, versions of cgroups, the runner's user or the run is shown by its meaning.
func (v View) Picture(on Machine) []string {
	p := picture{}
	for who, process := range v.Processes {
		p.process(who, process)
	}
	for kind, id := range v.Namespaces {
		if kind == "time" { // some kernels lack it
			continue
		}
		whose := "its own"
		if id == on.Namespaces[kind] {
			whose = "the machine's"
		}
		p.add("namespace", kind, whose)
	}
	p.cgroups(v.Cgroups)
	for name, result := range v.Syscalls {
		p.add("system call", name, permission(result))
	}
	for name, result := range v.Sockets {
		p.add("socket", name, permission(result))
	}
	p.mounts(v.Mounts)
	p.files(v.Files)
	p.kernel(v.Kernel, on)
	p.network(v.Network)
	for _, name := range v.Environment {
		if !certificates.MatchString(name) {
			p.add("environment", name, "set")
		}
	}
	seen := map[string]bool{}
	for _, other := range v.Visible {
		seen[other.Name] = true
	}
	p.add("visible processes", "names", strings.Join(slices.Sorted(maps.Keys(seen)), " "))
	slices.Sort(p)
	return slices.Compact(p)
}

// certificates matches variables that are set where the machine has a bundle of certificate authorities.
var certificates = regexp.MustCompile(`CERT|CAFILE|CAINFO|CA_BUNDLE`)

type picture []string

func (p *picture) add(what, which, is string) {
	*p = append(*p, strings.TrimRight(fmt.Sprintf("%s: %s: %s", what, which, is), " "))
}

func (p *picture) process(who string, of Process) {
	who = "process " + who
	p.add(who, "user", identity(of.UIDs))
	p.add(who, "group", identity(of.GIDs))
	for group := range strings.FieldsSeq(of.Groups) {
		if !strings.Contains(" "+of.GIDs+" ", " "+group+" ") {
			p.add(who, "one more group", group)
		}
	}
	for set, value := range of.Caps {
		if strings.Trim(value, "0") == "" {
			value = "none"
		}
		p.add(who, set, value)
	}
	p.add(who, "no_new_privs", of.NoNewPrivs)
	p.add(who, "seccomp", of.Seccomp)
	p.add(who, "memory can be opened", of.Dumpable)
	if of.Limits != nil {
		p.add(who, "umask", of.Umask)
		p.add(who, "core", of.Limits["core"])
		p.add(who, "open files", limited(of.Limits["nofile"]))
		p.add(who, "size of a file", limited(of.Limits["fsize"]))
	}
}

// identity summarizes four numbers: real, effective, saved, file system.
func identity(ids string) string {
	numbers := slices.Compact(strings.Fields(ids))
	switch {
	case len(numbers) == 1 && numbers[0] == "0":
		return "root"
	case len(numbers) == 1:
		return "one, not root"
	}
	return "several: " + ids
}

func limited(softHard string) string {
	if softHard == "" || strings.Contains(softHard, "unlimited") {
		return "not limited"
	}
	return "limited"
}

// permission is the meaning of an attempt's result.
func permission(result string) string {
	switch result {
	case "EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT":
		return "denied"
	case "ok":
		return "allowed"
	}
	return "reaches the kernel"
}

// cgroups requires that every line names the root of a namespace: hierarchy:controllers:path.
func (p *picture) cgroups(table []string) {
	for _, line := range table {
		if !strings.HasSuffix(line, ":/") {
			p.add("cgroup", "place of the box among the machine's", "visible")
			return
		}
	}
	p.add("cgroup", "place of the box among the machine's", "hidden")
}

// digest is a part of a path that differs between runs.
var digest = regexp.MustCompile(`[0-9a-f]{16,}`)

// pseudo are file systems without files on a disk.
var pseudo = []string{"proc", "sysfs", "tmpfs", "devtmpfs", "devpts", "mqueue"}

func (p *picture) mounts(all []Mount) {
	for _, m := range all {
		kind, at := "files", digest.ReplaceAllString(m.At, "…")
		switch {
		case strings.HasPrefix(at, "/sys/fs/cgroup"), strings.HasPrefix(m.Type, "cgroup"):
			kind, at = "cgroups", "/sys/fs/cgroup"
		case slices.Contains(pseudo, m.Type):
			kind = m.Type
		}
		inside := strings.HasPrefix(at, "/proc/") || strings.HasPrefix(at, "/sys/firmware") || strings.HasPrefix(at, "/sys/devices")
		if at == "/sys/fs/cgroup" && m.Type == "tmpfs" {
			continue // where version 1 is mounted; the search shows whether it is writable
		}
		if inside && (slices.Contains(m.Flags, "ro") || kind == "tmpfs" || kind == "devtmpfs") {
			continue // masks and read-only mounts: other lines show what can be read
		}
		if strings.Contains(m.Propagation, "shared") { // whether the machine's later mounts appear depends on the machine
			kind += ", shared"
		}
		p.add("mount", at, strings.Join(append(slices.Clone(m.Flags), kind), " "))
	}
}

func (p *picture) files(f Files) {
	for _, path := range f.Writable {
		p.add("writable", path, "yes")
	}
	for _, d := range f.Devices {
		p.add("device", digest.ReplaceAllString(d.Path, "…"), fmt.Sprintf("read %t, write %t", d.Read, d.Write))
	}
	for _, path := range f.Sockets {
		p.add("unix socket", path, "there")
	}
	for _, program := range f.Privileged {
		if program.Usable {
			p.add("privileged program", program.Path, program.Mark+", usable")
		}
	}
	p.add("search of the file system", "complete", strconv.FormatBool(f.Complete))
}

func (p *picture) kernel(k Kernel, on Machine) {
	whose := "another than the machine's"
	if k.Release == on.Release {
		whose = "the machine's"
	}
	p.add("kernel", "release", whose)
	for path, result := range k.Secrets {
		if result != "readable" {
			result = "nothing to read"
		}
		p.add("secret", path, result)
	}
	for path, result := range k.Switches {
		if result == "ok" {
			p.add("switch", path, "can be opened for writing")
		}
	}
	for _, path := range k.Writable {
		p.add("writable", path, "yes")
	}
}

func (p *picture) network(n Network) {
	for kind, names := range map[string][]string{
		"interface": n.Interfaces, "route": n.Routes, "resolver": n.Resolvers, "listening in the box": n.Listening, "abstract socket": n.Abstract,
	} {
		for _, name := range names {
			p.add("network", kind, name)
		}
	}
	for address, result := range n.Reach {
		if result == "ok" || result == "ECONNREFUSED" { // either way a packet arrived
			p.add("network", "reached", address)
		}
	}
}

// Compare returns the differences of two pictures, missing lines with a minus and extra lines with a plus; nil when
// they are equal.
func Compare(want, got []string) []string {
	var diff []string
	for _, line := range want {
		if !slices.Contains(got, line) {
			diff = append(diff, "- "+line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			diff = append(diff, "+ "+line)
		}
	}
	slices.SortFunc(diff, func(a, b string) int { return strings.Compare(a[2:]+a[:1], b[2:]+b[:1]) })
	return diff
}
