package docker

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-connections/nat"
	"github.com/docker/go-units"

	"sandboxrun/sandbox"
)

// honest is the report of an engine that fulfils the request.
func honest(r recipe) container.InspectResponse {
	config, host := *r.Config, *r.Host
	host.MaskedPaths = []string{"/proc/acpi", "/proc/kcore"}
	host.ReadonlyPaths = []string{"/proc/bus", "/proc/sys"}
	config.Labels = map[string]string{"of.the.image": "x"}
	maps.Copy(config.Labels, r.Config.Labels)
	config.Env = append(slices.Clone(config.Env), "PATH=/bin")
	made := container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{Image: config.Image, HostConfig: &host},
		Config:            &config,
	}
	for _, m := range r.Host.Mounts {
		made.Mounts = append(made.Mounts, container.MountPoint{
			Type: m.Type, Source: m.Source, Destination: m.Target, RW: !m.ReadOnly, Propagation: mount.PropagationRPrivate,
		})
	}
	return made
}

func TestAcceptsHonestEngine(t *testing.T) {
	t.Parallel()
	r := sampleRecipe(t, sampleSpec())
	if err := keepsPromises(r, honest(r)); err != nil {
		t.Error(err)
	}
}

func TestNoticesBrokenPromises(t *testing.T) {
	t.Parallel()
	type made = container.InspectResponse
	yes, no, zero := true, false, int64(0)
	for name, tamper := range map[string]func(*made){
		"privileged":       func(m *made) { m.HostConfig.Privileged = true },
		"capability":       func(m *made) { m.HostConfig.CapAdd = []string{"SYS_ADMIN"} },
		"kept capability":  func(m *made) { m.HostConfig.CapDrop = nil },
		"unconfined":       func(m *made) { m.HostConfig.SecurityOpt = append(m.HostConfig.SecurityOpt, "apparmor=unconfined") },
		"no seccomp":       func(m *made) { m.HostConfig.SecurityOpt = m.HostConfig.SecurityOpt[:1] },
		"writable root":    func(m *made) { m.HostConfig.ReadonlyRootfs = false },
		"network":          func(m *made) { m.HostConfig.NetworkMode = "bridge" },
		"host pids":        func(m *made) { m.HostConfig.PidMode = "host" },
		"host ipc":         func(m *made) { m.HostConfig.IpcMode = "host" },
		"host uts":         func(m *made) { m.HostConfig.UTSMode = "host" },
		"host users":       func(m *made) { m.HostConfig.UsernsMode = "host" },
		"host cgroups":     func(m *made) { m.HostConfig.CgroupnsMode = "host" },
		"cgroup parent":    func(m *made) { m.HostConfig.CgroupParent = "/" },
		"group":            func(m *made) { m.HostConfig.GroupAdd = []string{"0"} },
		"device":           func(m *made) { m.HostConfig.Devices = []container.DeviceMapping{{PathOnHost: "/dev/kmsg"}} },
		"sysctl":           func(m *made) { m.HostConfig.Sysctls = map[string]string{"kernel.x": "1"} },
		"port":             func(m *made) { m.HostConfig.PortBindings = nat.PortMap{"80/tcp": nil} },
		"extra host":       func(m *made) { m.HostConfig.ExtraHosts = []string{"a:host-gateway"} },
		"textual bind":     func(m *made) { m.HostConfig.Binds = []string{"/:/host"} },
		"volumes from":     func(m *made) { m.HostConfig.VolumesFrom = []string{"x"} },
		"unmasked paths":   func(m *made) { m.HostConfig.MaskedPaths = []string{} },
		"writable proc":    func(m *made) { m.HostConfig.ReadonlyPaths = []string{} },
		"no init":          func(m *made) { m.HostConfig.Init = &no },
		"log":              func(m *made) { m.HostConfig.LogConfig.Type = "json-file" },
		"restart":          func(m *made) { m.HostConfig.RestartPolicy.Name = container.RestartPolicyAlways },
		"automatic remove": func(m *made) { m.HostConfig.AutoRemove = true },
		"runtime":          func(m *made) { m.HostConfig.Runtime = "runc" },
		"memory":           func(m *made) { m.HostConfig.Memory = 0 },
		"swap":             func(m *made) { m.HostConfig.MemorySwap = -1 },
		"no killer":        func(m *made) { m.HostConfig.OomKillDisable = &yes },
		"pids":             func(m *made) { m.HostConfig.PidsLimit = nil },
		"unlimited pids":   func(m *made) { m.HostConfig.PidsLimit = &zero },
		"cpu":              func(m *made) { m.HostConfig.CPUQuota = 0 },
		"ulimit":           func(m *made) { m.HostConfig.Ulimits = []*units.Ulimit{} },
		"tmpfs":            func(m *made) { m.HostConfig.Tmpfs = nil },
		"root user":        func(m *made) { m.Config.User = "" },
		"image":            func(m *made) { m.Image = "sha256:2222" },
		"entrypoint":       func(m *made) { m.Config.Entrypoint = []string{"/evil"} },
		"command":          func(m *made) { m.Config.Cmd = []string{"x"} },
		"terminal":         func(m *made) { m.Config.Tty = true },
		"directory":        func(m *made) { m.Config.WorkingDir = "/proc/self/fd/8" },
		"health check":     func(m *made) { m.Config.Healthcheck = &container.HealthConfig{Test: []string{"CMD", "x"}} },
		"label":            func(m *made) { m.Config.Labels[labelOwner] = "other" },
		"environment":      func(m *made) { m.Config.Env = append([]string{"LD_PRELOAD=/evil.so"}, m.Config.Env...) },
		"more mounts": func(m *made) {
			m.Mounts = append(m.Mounts, container.MountPoint{Type: mount.TypeVolume, Name: "x", Destination: "/data", RW: true})
		},
		"fewer mounts":   func(m *made) { m.Mounts = m.Mounts[1:] },
		"another source": func(m *made) { m.Mounts[0].Source = "/" },
		"writable bind":  func(m *made) { m.Mounts[1].RW = true },
		"shared mount":   func(m *made) { m.Mounts[0].Propagation = mount.PropagationRShared },
		"nothing":        func(m *made) { m.ContainerJSONBase = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sampleRecipe(t, sampleSpec())
			m := honest(r)
			tamper(&m)
			var broken *sandbox.PolicyError
			if err := keepsPromises(r, m); !errors.As(err, &broken) || broken.Promise == "" || broken.Got == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}
