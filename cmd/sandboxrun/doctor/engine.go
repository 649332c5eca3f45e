package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"sandboxrun/gitdiff/quota"
	"sandboxrun/runner/box"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

func checkEngine(ctx context.Context, x *Examination) Finding {
	if err := x.EngineErr(ctx); err != nil {
		return Fail(engineHint(err, "install and start Docker or Podman, or set DOCKER_HOST"), "%v", err)
	}
	return Pass("%s %s at %s", x.info.Name, x.info.Version, x.info.Endpoint)
}

// engineHint returns the hint of the error itself, or else otherwise.
func engineHint(err error, otherwise string) string {
	if gone, ok := errors.AsType[*sandbox.UnavailableError](err); ok && gone.Hint != "" {
		return gone.Hint
	}
	return otherwise
}

// checkAPI only reports: an engine that is too old fails earlier.
func checkAPI(_ context.Context, x *Examination) Finding {
	return Pass("API %s, at least %s is needed", x.info.APIVersion, docker.MinAPIVersion)
}

func checkPlatform(_ context.Context, x *Examination) Finding {
	arch := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[x.info.Arch]
	if arch == "" {
		arch = x.info.Arch
	}
	text := fmt.Sprintf("%s/%s, kernel %s", x.info.OS, x.info.Arch, x.info.Kernel)
	if x.info.OS != "linux" || arch != runtime.GOARCH {
		return Fail("use an engine of this machine's own kind",
			"%s: this program (%s/%s) is also the main process of every box and cannot run there", text, runtime.GOOS, runtime.GOARCH)
	}
	return Pass("%s", text)
}

func checkSocket(_ context.Context, x *Examination) Finding {
	path, ok := strings.CutPrefix(x.info.Endpoint, "unix://")
	if !ok {
		return Caution("prefer a socket on this machine", "%s is not a local socket: every client that can reach it controls that machine", x.info.Endpoint)
	}
	st, err := os.Stat(path)
	if err != nil {
		return Caution("", "%s: %v", path, err)
	}
	if st.Mode().Perm()&0o002 != 0 {
		return Caution("chmod o-rw "+path, "every user of this machine may use %s, which makes each of them root", path)
	}
	return Pass("%s, mode %04o", path, st.Mode().Perm())
}

func checkComponents(_ context.Context, x *Examination) Finding {
	var have, known, fixed []string
	for _, c := range x.info.Components {
		have = append(have, c.Name+" "+c.Version)
		for _, h := range holes {
			if !strings.EqualFold(c.Name, h.component) {
				continue
			}
			open, sure := h.in(c.Version)
			if !sure || !open {
				continue
			}
			if h.backported(c.Version) {
				fixed = append(fixed, h.ids)
				continue
			}
			text := fmt.Sprintf("%s %s: %s (%s)", c.Name, c.Version, h.ids, h.allows)
			if packaged(c.Version) {
				text += ", unless the distribution's package has the fix"
			}
			known = append(known, text)
		}
	}
	if len(fixed) > 0 {
		note := "the distribution's package has the fix of " + strings.Join(fixed, ", ")
		have, fixed = append(have, note), []string{note}
	}
	switch {
	case len(have) == 0:
		return Caution("", "the engine does not report which runc and containerd it uses")
	case len(known) > 0:
		return Caution("update them, or run tasks with --runtime runsc", "%s", strings.Join(append(known, fixed...), "; "))
	}
	return Pass("%s; none of the known vulnerabilities that doctor checks for", strings.Join(have, ", "))
}

func checkCgroups(_ context.Context, x *Examination) Finding {
	var missing []string
	for _, c := range []struct {
		name string
		has  bool
	}{{"memory", x.info.MemoryLimit}, {"pids", x.info.PIDsLimit}, {"cpu", x.info.CPULimit}} {
		if !c.has {
			missing = append(missing, c.name)
		}
	}
	version := "cgroup v" + x.info.CgroupVersion
	switch {
	case len(missing) > 0:
		return Fail("enable these controllers for the engine", "%s cannot limit %s", version, strings.Join(missing, ", "))
	case !x.info.SwapLimit:
		return Caution("enable swap accounting, or turn swap off", "%s limits memory, pids and cpu, but not swap", version)
	}
	return Pass("%s limits memory, swap, pids and cpu", version)
}

func checkSeccomp(_ context.Context, x *Examination) Finding {
	if !x.has("seccomp") {
		return Fail("use a kernel and an engine with seccomp", "the engine cannot filter system calls")
	}
	return Pass("system calls are filtered by this program's own profile")
}

func checkUserNamespaces(_ context.Context, x *Examination) Finding {
	user := box.User()
	owner, err := x.info.OnMachine(user)
	switch {
	case err != nil:
		return Fail(engineHint(err, "use another engine"), "no run can work here: %v", err)
	case owner != user:
		return Pass("userns-remap: root in a box is user %d of this machine, without rights there", x.info.RemappedRoot.UID)
	}
	return Caution("the engine's userns-remap adds a layer",
		"off: numeric users of boxes are the same numbers on this machine (boxes never run as 0)")
}

func checkSecurityModules(_ context.Context, x *Examination) Finding {
	for _, name := range []string{"apparmor", "selinux"} {
		if x.has(name) {
			return Pass("%s", name)
		}
	}
	return Caution("", "neither AppArmor nor SELinux confines containers here")
}

func checkRuntimes(_ context.Context, x *Examination) Finding {
	if slices.Contains(x.info.Runtimes, "runsc") {
		return Pass("runsc (gVisor) is installed: --runtime runsc; the default is %s", x.info.DefaultRun)
	}
	return Caution("install gVisor's runsc and register it with the engine to use --runtime runsc",
		"only %s: boxes share this machine's kernel", strings.Join(x.info.Runtimes, ", "))
}

// checkStorage reports how the writes of boxes are bounded: the engine need not bound them, because their roots are
// read-only.
func checkStorage(_ context.Context, x *Examination) Finding {
	engine := fmt.Sprintf("%s in %s; roots are read-only", x.info.StorageDriver, x.info.RootDir)
	if err := tryQuota(x.State.Dir()); err != nil {
		return Pass("%s, the growth of trees is measured (%v)", engine, err)
	}
	return Pass("%s, the growth of trees is measured and bounded by project quotas", engine)
}

// tryQuota returns why the file system of a directory cannot bound trees.
func tryQuota(dir string) (err error) {
	trial, err := os.MkdirTemp(dir, "quota-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(trial)) }()
	return quota.Begin(trial)
}

// checkRestarts only reports: a run whose engine goes away ends either way.
func checkRestarts(_ context.Context, x *Examination) Finding {
	if x.info.LiveRestore {
		return Pass("live restore is on: boxes outlive a restart of the engine, and the next start or \"sandboxrun reap\" removes them")
	}
	return Pass("live restore is off: boxes end with the engine")
}

// has reports whether the engine names a security option.
func (x *Examination) has(option string) bool { return slices.Contains(x.info.Security, option) }

// checkTier reports the tier of boxes without another runtime, and fails where it is below the required one.
func checkTier(_ context.Context, x *Examination) Finding {
	have, why := x.info.Tier(x.Config.Box.Runtime)
	switch {
	case have.Below(x.Config.Box.RequireTier):
		return Fail(`set box.runtime to runsc where gVisor is installed, or turn on userns-remap in the engine`,
			"%s (%s), and %s is required: every run is refused", have, why, x.Config.Box.RequireTier)
	case have == sandbox.TierRunc:
		return Caution("install gVisor and set box.runtime to runsc, or turn on userns-remap in the engine",
			"%s (%s): one vulnerability in the kernel or the runtime is enough to leave a box", have, why)
	}
	return Pass("%s (%s)", have, why)
}
