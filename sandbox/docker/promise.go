package docker

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"sandboxrun/sandbox"
)

// promise is one property the created container must have.
type promise struct {
	name      string
	want, got any
}

// keepsPromises compares the container the engine made with the request. An engine without a controller drops a limit
// with a warning, a plug-in may alter a request: either way the box must not start.
func keepsPromises(r recipe, made container.InspectResponse) error {
	if made.ContainerJSONBase == nil || made.HostConfig == nil || made.Config == nil {
		return &sandbox.PolicyError{Promise: "a container that can be inspected", Got: "nothing"}
	}
	for _, p := range slices.Concat(identity(r, made), isolation(r, *made.HostConfig), resources(r, *made.HostConfig)) {
		if want, got := canonical(p.want), canonical(p.got); want != got {
			return &sandbox.PolicyError{Promise: p.name + " " + shorten(want), Got: shorten(got)}
		}
	}
	return checkMounts(r, made.Mounts)
}

func identity(r recipe, made container.InspectResponse) []promise {
	c, want := *made.Config, *r.Config
	labels := map[string]string{}
	for name := range want.Labels {
		labels[name] = c.Labels[name]
	}
	return []promise{
		{"image", want.Image, made.Image},
		{"user", want.User, c.User},
		{"entrypoint", want.Entrypoint, c.Entrypoint},
		{"command", []string(want.Cmd), []string(c.Cmd)},
		{"working directory", want.WorkingDir, c.WorkingDir},
		{"terminal", false, c.Tty},
		{"open stdin", true, c.OpenStdin && c.StdinOnce},
		{"health check", want.Healthcheck.Test, healthTest(c.Healthcheck)},
		{"labels", want.Labels, labels},
		{"environment", want.Env, environmentOf(want.Env, c.Env)},
	}
}

func isolation(r recipe, h container.HostConfig) []promise {
	want := r.Host
	return []promise{
		{"privileged", false, h.Privileged},
		{"capabilities added", []string(want.CapAdd), []string(h.CapAdd)},
		{"capabilities dropped", []string(want.CapDrop), []string(h.CapDrop)},
		{"security options", sorted(want.SecurityOpt), sorted(h.SecurityOpt)},
		{"read-only root", true, h.ReadonlyRootfs},
		{"network", string(want.NetworkMode), string(h.NetworkMode)},
		{"ipc namespace", string(want.IpcMode), string(h.IpcMode)},
		{"cgroup namespace", string(want.CgroupnsMode), string(h.CgroupnsMode)},
		{"pid namespace", "", string(h.PidMode)},
		{"uts namespace", "", string(h.UTSMode)},
		{"user namespace", "", string(h.UsernsMode)},
		{"parent cgroup", "", h.CgroupParent},
		{"extra groups", []string{}, h.GroupAdd},
		{"sysctls", map[string]string{}, h.Sysctls},
		{"devices", 0, len(h.Devices) + len(h.DeviceRequests) + len(h.DeviceCgroupRules)},
		{"links, ports and hosts", 0, len(h.Links) + len(h.PortBindings) + len(h.ExtraHosts)},
		{"published ports", false, h.PublishAllPorts},
		{"inherited volumes", 0, len(h.VolumesFrom) + len(h.Binds)},
		{"masked paths", true, slices.Contains(h.MaskedPaths, "/proc/kcore")},
		{"read-only paths", true, slices.Contains(h.ReadonlyPaths, "/proc/sys")},
		{"init", *want.Init, h.Init != nil && *h.Init},
		{"log driver", want.LogConfig.Type, h.LogConfig.Type},
		{"restart", false, h.RestartPolicy.IsAlways() || h.RestartPolicy.IsOnFailure() || h.RestartPolicy.IsUnlessStopped()},
		{"automatic removal", false, h.AutoRemove},
		{"runtime", true, r.Host.Runtime == "" || r.Host.Runtime == h.Runtime},
	}
}

func resources(r recipe, h container.HostConfig) []promise {
	want := r.Host
	return []promise{
		{"memory limit", want.Memory, h.Memory},
		{"memory and swap limit", want.MemorySwap, h.MemorySwap},
		{"out-of-memory killer", false, h.OomKillDisable != nil && *h.OomKillDisable},
		{"process limit", want.PidsLimit, h.PidsLimit},
		{"cpu quota", [2]int64{want.CPUPeriod, want.CPUQuota}, [2]int64{h.CPUPeriod, h.CPUQuota}},
		{"ulimits", want.Ulimits, h.Ulimits},
		{"tmpfs", want.Tmpfs, h.Tmpfs},
		{"shared memory", want.ShmSize, h.ShmSize},
	}
}

// checkMounts requires exactly the requested mounts: one more is a VOLUME of the image that was not covered, or worse.
func checkMounts(r recipe, made []container.MountPoint) error {
	describe := func(kind mount.Type, source, target string, writable bool) string {
		return fmt.Sprintf("%s %s at %s writable=%t", kind, source, target, writable)
	}
	var want, got []string
	for _, m := range r.Host.Mounts {
		want = append(want, describe(m.Type, m.Source, m.Target, !m.ReadOnly))
	}
	for _, m := range made {
		if m.Type == mount.TypeTmpfs && r.Host.Tmpfs[m.Destination] != "" {
			continue
		}
		source := m.Source
		if m.Type == mount.TypeVolume {
			source = m.Name
		}
		if m.Type == mount.TypeBind && m.Propagation != mount.PropagationRPrivate {
			return &sandbox.PolicyError{Promise: "private mount at " + m.Destination, Got: string(m.Propagation)}
		}
		got = append(got, describe(m.Type, source, m.Destination, m.RW))
	}
	if a, b := strings.Join(sorted(want), ", "), strings.Join(sorted(got), ", "); a != b {
		return &sandbox.PolicyError{Promise: "mounts " + a, Got: b}
	}
	return nil
}

func healthTest(h *container.HealthConfig) []string {
	if h == nil {
		return []string{"NONE"}
	}
	return h.Test
}

// environmentOf returns the variables of got that want names, in the form of want.
func environmentOf(want, got []string) []string {
	var same []string
	for _, pair := range want {
		name, _, hasValue := strings.Cut(pair, "=")
		i := slices.IndexFunc(got, func(g string) bool { n, _, _ := strings.Cut(g, "="); return n == name })
		switch {
		case i >= 0:
			same = append(same, got[i])
		case !hasValue:
			same = append(same, pair)
		}
	}
	return same
}

func sorted(list []string) []string {
	s := slices.Clone(list)
	slices.Sort(s)
	return s
}

// canonical makes nil and empty, and pointer and value, the same.
func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if s := string(b); s != "null" && s != "{}" {
		return s
	}
	return "[]"
}

func shorten(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
