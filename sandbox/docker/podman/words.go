// Package podman translates between Docker's requests and reports and those of Podman's
// Docker-compatible service, and inspects a box from inside where the service
// reports nothing. Package docker does everything else. Users of a
// box notice these differences (Podman 4.3 run by root):
//
//   - Open inspects the box from inside before it returns it (Inspect), with the
//     image's /bin/sh; an image without one cannot be used.
//   - The runtime is that of the service. One that brings its own kernel, as
//     gVisor does, cannot be probed and is refused.
//   - A temporary directory is limited in its number of files only by the memory
//     they take. There is one more, on /var/tmp.
//   - A path with a comma, a quote or a line break cannot be mounted.
//   - With cgroup v1 the box knows its own place among the cgroups; it has no
//     namespace for them.
//   - An overlay counts as unsupported for an image that has a /workspace.
//   - An image's variables that a box must not have are empty instead of unset.
//   - Podman reports no out-of-memory kills: on another machine, where the
//     kernel's counters cannot be read, they look like any other SIGKILL.
//   - The monitor of an exec, a small process outside the box, stays for five
//     minutes after it (exit_command_delay in containers.conf), then ends.
//   - Without root it sets no ulimits, and is refused for that.
package podman

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-units"
	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

// Name is the Info.Name of Podman's Docker-compatible service.
const Name = "podman"

// Request is a request to create a container. The functions of this package do not change it but return a changed
// copy.
type Request struct {
	Config *container.Config
	Host   *container.HostConfig
}

// Is reports whether an engine's answer comes from Podman's service.
func Is(v types.Version) bool {
	return slices.ContainsFunc(v.Components, func(c types.ComponentVersion) bool {
		return strings.Contains(c.Name, "Podman")
	})
}

// defaultProcesses is the limit on a user's processes that Podman sets where none is requested. (Podman,
// libpod/define, RLimitDefaultValue.)
const defaultProcesses = 1 << 20

// ownEnv are the variables Podman adds to every container.
var ownEnv = []string{"container", "HOSTNAME", "PATH", "TERM"}

// Translate rewrites a request for Podman's Docker-compatible service, as seen
// with Podman 4.3, without weakening it. profile is the path of the seccomp
// profile on the engine's machine.
//
//   - the seccomp profile is named by its path;
//   - a read-only root would get a tmpfs of any size on /var/tmp; it gets one
//     with a size (Tmpfs is about the others);
//   - a variable without "=" would take its value from the service's own environment;
//     it becomes empty;
//   - mounts travel as comma-separated text, so that a comma in a path would
//     end the path and start an option;
//   - the runtime is the service's, which ignores the request's;
//   - a limit on the user's processes is set to what the machine has, because
//     Podman's own choice fails where the service may not have so many.
func Translate(r Request, s sandbox.Spec, about sandbox.Info, profile string) (Request, error) {
	if s.Runtime != "" && s.Runtime != about.DefaultRun {
		return Request{}, &sandbox.PolicyError{
			Promise: "runtime " + s.Runtime,
			Got:     "podman's own choice, " + about.DefaultRun + ": start its service with --runtime",
		}
	}
	for _, m := range r.Host.Mounts {
		for _, p := range []string{m.Source, m.Target} {
			if i := strings.IndexAny(p, ",\"\r\n"); i >= 0 {
				return Request{}, fmt.Errorf("podman cannot mount %q: its path has a %q", p, p[i])
			}
		}
	}
	for _, m := range r.Host.Mounts {
		// Podman would create a directory in its place.
		if _, err := os.Lstat(m.Source); m.Type == mount.TypeBind && err != nil {
			return Request{}, fmt.Errorf("bind: %w", err)
		}
	}
	config, host := *r.Config, *r.Host
	config.Env = slices.Clone(config.Env)
	for i, pair := range config.Env {
		if !strings.Contains(pair, "=") {
			config.Env[i] = pair + "="
		}
	}
	host.Runtime = ""
	host.SecurityOpt = []string{"no-new-privileges:true", "seccomp=" + profile}
	host.Tmpfs = maps.Clone(host.Tmpfs)
	if host.Tmpfs["/var/tmp"] == "" {
		host.Tmpfs["/var/tmp"] = Tmpfs(s.User, s.Limits.TmpBytes, "exec,mode=1777")
	}
	processes := processesAllowed()
	host.Ulimits = append(slices.Clone(host.Ulimits), &units.Ulimit{Name: "nproc", Soft: processes, Hard: processes})
	return Request{Config: &config, Host: &host}, nil
}

// Tmpfs are the mount options of a tmpfs of size bytes in Podman's form, which has no uid, gid and nr_inodes: "U"
// gives the directory to the box's user, and only the memory limit bounds the number of files. Like Docker's it begins
// empty.
func Tmpfs(_ sandbox.User, size int64, rest string) string {
	return "rw,nosuid,nodev," + rest + ",size=" + strconv.FormatInt(size, 10) + ",U,notmpcopyup"
}

// processesAllowed is how many processes this machine and this process's own limits allow one user.
func processesAllowed() int64 {
	allowed := int64(defaultProcesses)
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &own); err == nil && own.Max < uint64(allowed) {
		allowed = int64(own.Max)
	}
	if text, err := os.ReadFile("/proc/sys/kernel/pid_max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			allowed = min(allowed, n)
		}
	}
	return allowed
}

// Report translates Podman's report of a container into Docker's form. image is the environment of the image. What
// Podman omits altogether (which capabilities are left, masked and read-only paths, the cgroup namespace) is filled in
// as requested: Inspect checks that from inside, before Open returns the box.
func Report(r Request, image []string, about sandbox.Info, made container.InspectResponse) (container.InspectResponse, error) {
	if made.ContainerJSONBase == nil || made.HostConfig == nil || made.Config == nil {
		return made, nil // keepsPromises refuses that
	}
	if extra := foreignEnv(r.Config.Env, image, made.Config.Env); len(extra) > 0 {
		return made, &sandbox.PolicyError{Promise: "no environment but the box's and the image's", Got: strings.Join(extra, " ")}
	}
	base, config, h := *made.ContainerJSONBase, *made.Config, *made.HostConfig
	config.StdinOnce = config.OpenStdin // omitted; the guest's end shows it
	h.CapDrop = r.Host.CapDrop
	h.CgroupnsMode = r.Host.CgroupnsMode
	h.MaskedPaths, h.ReadonlyPaths = []string{"/proc/kcore"}, []string{"/proc/sys"}
	if h.IpcMode == container.IPCModeShareable {
		h.IpcMode = container.IPCModePrivate // other containers may join it; none does
	}
	if h.PidMode == "private" {
		h.PidMode = ""
	}
	if h.UTSMode == "private" {
		h.UTSMode = ""
	}
	h.SecurityOpt = slices.Clone(h.SecurityOpt)
	for i, o := range h.SecurityOpt {
		if o == "no-new-privileges" {
			h.SecurityOpt[i] = "no-new-privileges:true"
		}
	}
	if len(h.Binds) == len(r.Host.Mounts) {
		h.Binds = nil // the mounts once more, as text
	}
	h.Ulimits = likeAsked(r.Host.Ulimits, h.Ulimits)
	h.Tmpfs = tmpfsLikeAsked(r.Host.Tmpfs, h.Tmpfs)
	h.Runtime = about.DefaultRun
	base.HostConfig, made.ContainerJSONBase, made.Config = &h, &base, &config
	return made, nil
}

// foreignEnv are the names of variables that come neither from the box, nor from the image, nor from Podman itself: a
// service passes its own proxies on.
func foreignEnv(asked, image, got []string) []string {
	known := slices.Clone(ownEnv)
	for _, pair := range slices.Concat(asked, image) {
		name, _, _ := strings.Cut(pair, "=")
		known = append(known, name)
	}
	var extra []string
	for _, pair := range got {
		if name, _, _ := strings.Cut(pair, "="); !slices.Contains(known, name) {
			extra = append(extra, name)
		}
	}
	return extra
}

// likeAsked turns RLIMIT_NOFILE into nofile and adopts the requested order.
func likeAsked(asked, got []*units.Ulimit) []*units.Ulimit {
	var same []*units.Ulimit
	for _, u := range got {
		c := *u
		c.Name = strings.ToLower(strings.TrimPrefix(c.Name, "RLIMIT_"))
		same = append(same, &c)
	}
	place := func(u *units.Ulimit) int {
		return slices.IndexFunc(asked, func(a *units.Ulimit) bool { return a.Name == u.Name })
	}
	slices.SortStableFunc(same, func(a, b *units.Ulimit) int { return place(a) - place(b) })
	return same
}

// tmpfsLikeAsked removes what Podman adds to its report of the options, and adds what it omits; Inspect checks the
// mount itself.
func tmpfsLikeAsked(asked, got map[string]string) map[string]string {
	same := map[string]string{}
	for target, options := range got {
		same[target] = options
		if want := asked[target]; sameOptions(want, options) {
			same[target] = want
		}
	}
	return same
}

func sameOptions(asked, got string) bool {
	plain := func(options string) []string {
		list := slices.DeleteFunc(strings.Split(options, ","), func(o string) bool {
			return o == "rprivate" || o == "notmpcopyup" || o == "U"
		})
		slices.Sort(list)
		return list
	}
	return slices.Equal(plain(asked), plain(got))
}
