package docker

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/podman"
)

// Info describes the engine and its components.
func (e *Engine) Info(ctx context.Context) (sandbox.Info, error) {
	if err := e.ready(ctx); err != nil {
		return sandbox.Info{}, err
	}
	version, err := ask(ctx, e, "get the engine's version", e.timeouts.Call, func(ctx context.Context) (types.Version, error) {
		return e.client.ServerVersion(ctx)
	})
	if err != nil {
		return sandbox.Info{}, err
	}
	about, err := ask(ctx, e, "get the engine's information", e.timeouts.Call, func(ctx context.Context) (system.Info, error) {
		return e.client.Info(ctx)
	})
	if err != nil {
		return sandbox.Info{}, err
	}
	info := sandbox.Info{
		Name:          "docker",
		Version:       version.Version,
		APIVersion:    e.client.ClientVersion(),
		Endpoint:      e.client.DaemonHost(),
		OS:            version.Os,
		Arch:          version.Arch,
		Kernel:        about.KernelVersion,
		CgroupVersion: about.CgroupVersion,
		StorageDriver: about.Driver,
		RootDir:       about.DockerRootDir,
		DefaultRun:    about.DefaultRuntime,
		Security:      securityOptions(about.SecurityOptions),
		MemoryLimit:   about.MemoryLimit,
		SwapLimit:     about.SwapLimit,
		PIDsLimit:     about.PidsLimit,
		CPULimit:      about.CPUCfsQuota,
		LiveRestore:   about.LiveRestoreEnabled,
	}
	if podman.Is(version) {
		info.Name = podman.Name
	}
	if slices.Contains(info.Security, "userns") {
		info.RemappedRoot = remappedRoot(info.RootDir)
	}
	for name := range about.Runtimes {
		info.Runtimes = append(info.Runtimes, name)
	}
	slices.Sort(info.Runtimes)
	for _, c := range version.Components {
		info.Components = append(info.Components, sandbox.Component{Name: c.Name, Version: c.Version})
	}
	return info, nil
}

// remappedRoot is the host user that root of a box maps to. An engine that remaps users keeps its data in a directory
// named after it, e.g. 231072.231072 (https://docs.docker.com/engine/security/userns-remap/, "daemon configuration").
func remappedRoot(dir string) sandbox.User {
	user, group, _ := strings.Cut(filepath.Base(dir), ".")
	uid, uerr := strconv.ParseUint(user, 10, 31)
	gid, gerr := strconv.ParseUint(group, 10, 31)
	if uerr != nil || gerr != nil {
		return sandbox.User{}
	}
	return sandbox.User{UID: int(uid), GID: int(gid)}
}

// securityOptions turns "name=seccomp,profile=default" into "seccomp".
func securityOptions(options []string) []string {
	names := make([]string, 0, len(options))
	for _, o := range options {
		name, _, _ := strings.Cut(strings.TrimPrefix(o, "name="), ",")
		names = append(names, name)
	}
	return names
}

// cachedInfo returns the first result of Info: some of it decides how boxes are made.
func (e *Engine) cachedInfo(ctx context.Context) (sandbox.Info, error) {
	e.mu.Lock()
	known := e.known
	e.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	info, err := e.Info(ctx)
	if err != nil {
		return sandbox.Info{}, err
	}
	e.mu.Lock()
	e.known = &info
	e.mu.Unlock()
	return info, nil
}

// bringsLoopbackUp reports whether the OCI runtime brings up the loopback interface of a new network namespace by
// itself. Then the engine's own network set-up, more than half of the time a start takes, can be left out
// (Config.NetworkDisabled). gVisor's runsc does not: without the engine's set-up a box would have no interface at all.
func bringsLoopbackUp(runtime string) bool { return runtime == "runc" || runtime == "crun" }
