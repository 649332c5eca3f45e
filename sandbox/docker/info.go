package docker

import (
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"

	"sandboxrun/sandbox"
)

// Info asks the engine what it is and what it consists of.
func (e *Engine) Info(ctx context.Context) (sandbox.Info, error) {
	if err := e.ready(ctx); err != nil {
		return sandbox.Info{}, err
	}
	version, err := ask(ctx, e, "ask for the version", e.timeouts.Call, func(ctx context.Context) (types.Version, error) {
		return e.client.ServerVersion(ctx)
	})
	if err != nil {
		return sandbox.Info{}, err
	}
	about, err := ask(ctx, e, "ask for information", e.timeouts.Call, func(ctx context.Context) (system.Info, error) {
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
	if isPodman(version) {
		info.Name = podman
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

func isPodman(v types.Version) bool {
	return slices.ContainsFunc(v.Components, func(c types.ComponentVersion) bool {
		return strings.Contains(c.Name, "Podman")
	})
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
