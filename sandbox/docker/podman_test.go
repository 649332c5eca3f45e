package docker

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-units"
	"github.com/google/go-cmp/cmp"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/podman"
)

var aboutPodman = sandbox.Info{Name: podman.Name, Version: "4.3.1", DefaultRun: "crun"}

func podmanSpec(t *testing.T) sandbox.Spec {
	t.Helper()
	s := sampleSpec()
	s.Runtime = "crun"
	s.Tree.Dir = t.TempDir()
	s.Binds[0].Source = t.TempDir()
	return s
}

// samplePodman is a recipe translated for Podman.
func samplePodman(t *testing.T) recipe {
	t.Helper()
	r, err := podmanRecipe(t, podmanSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func podmanRecipe(t *testing.T, s sandbox.Spec) (recipe, error) {
	t.Helper()
	e := &Engine{instance: "here", dir: t.TempDir()}
	img := image{id: "sha256:1111", env: []string{"PATH=/bin", "LD_PRELOAD=/evil.so"}, volumes: []string{"/data"}}
	r, err := e.newRecipe(s, img, podmanDialect{}.fit(setting{}, s, aboutPodman))
	if err != nil {
		t.Fatal(err)
	}
	return podmanDialect{}.request(e, r, s, aboutPodman)
}

func TestPodmanRecipeIsNoWeaker(t *testing.T) {
	t.Parallel()
	r := samplePodman(t)
	docker := sampleRecipe(t, sampleSpec())
	h, d := *r.Host, *docker.Host
	path, ok := strings.CutPrefix(h.SecurityOpt[1], "seccomp=")
	text, err := os.ReadFile(path)
	if profile, _ := seccompProfile(); !ok || err != nil || string(text) != profile || h.SecurityOpt[0] != d.SecurityOpt[0] {
		t.Errorf("security options %v, %v", h.SecurityOpt, err)
	}
	for _, target := range []string{"/data", "/run", "/tmp", "/var/tmp", sandbox.Home} {
		if o := h.Tmpfs[target]; !strings.Contains(o, ",size=") || !strings.Contains(o, ",U,") || !strings.Contains(o, "nosuid,nodev") {
			t.Errorf("%s: %q", target, o)
		}
	}
	if slices.Contains(r.Config.Env, "LD_PRELOAD") || !slices.Contains(r.Config.Env, "LD_PRELOAD=") {
		t.Errorf("environment %q would be filled in from the service's", r.Config.Env)
	}
	// Everything else is the same.
	h.SecurityOpt, h.Tmpfs, h.Mounts, h.Ulimits, h.Runtime = d.SecurityOpt, d.Tmpfs, d.Mounts, h.Ulimits[:len(d.Ulimits)], d.Runtime
	if diff := cmp.Diff(d, h); diff != "" {
		t.Errorf("(-docker +podman):\n%s", diff)
	}
}

func TestPodmanRefusesUnsupportedSpecs(t *testing.T) {
	t.Parallel()
	s := podmanSpec(t)
	s.Runtime = "runsc"
	if _, ok := errors.AsType[*sandbox.PolicyError](second(podmanRecipe(t, s))); !ok {
		t.Error("another runtime: no error")
	}
	for _, path := range []string{"a,readonly=false", `a"b`, "a\nb"} {
		s := podmanSpec(t)
		s.Tree.Dir = filepath.Join(s.Tree.Dir, path)
		if err := os.Mkdir(s.Tree.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := podmanRecipe(t, s); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
	s = podmanSpec(t)
	s.Binds[0].Source += "/missing"
	if _, err := podmanRecipe(t, s); err == nil {
		t.Error("a bind without a source: no error")
	}
}

// fromPodman is what Podman 4.3 reports of a container it made as requested.
func fromPodman(r recipe) container.InspectResponse {
	made := honest(r)
	config, h := *made.Config, *made.HostConfig
	config.StdinOnce = false
	config.Env = []string{"PATH=/bin", "TERM=xterm", "container=podman", "HOSTNAME=sandbox", "HOME=/elsewhere", "A=1", "LD_PRELOAD="}
	h.CapDrop = []string{"CHOWN", "KILL"}
	h.SecurityOpt = []string{"no-new-privileges", r.Host.SecurityOpt[1]}
	h.IpcMode, h.CgroupnsMode, h.PidMode, h.UTSMode = "shareable", "", "private", "private"
	h.MaskedPaths, h.ReadonlyPaths, h.Runtime = nil, nil, "oci"
	h.Binds = make([]string, len(h.Mounts))
	h.Tmpfs = map[string]string{}
	for target, options := range r.Host.Tmpfs {
		h.Tmpfs[target] = strings.TrimSuffix(options, ",notmpcopyup") + ",rprivate"
	}
	h.Ulimits = nil
	for _, u := range r.Host.Ulimits {
		h.Ulimits = append([]*units.Ulimit{{Name: "RLIMIT_" + strings.ToUpper(u.Name), Soft: u.Soft, Hard: u.Hard}}, h.Ulimits...)
	}
	made.Config, made.HostConfig = &config, &h
	return made
}

func checkPodman(r recipe, made container.InspectResponse) error {
	made, err := podmanDialect{}.report(r, image{env: []string{"PATH=/bin", "LD_PRELOAD=/evil.so"}}, aboutPodman, made)
	if err != nil {
		return err
	}
	return keepsPromises(r, made)
}

func TestAcceptsHonestPodman(t *testing.T) {
	t.Parallel()
	r := samplePodman(t)
	if err := checkPodman(r, fromPodman(r)); err != nil {
		t.Error(err)
	}
}

func TestNoticesPodmansBrokenPromises(t *testing.T) {
	t.Parallel()
	type made = container.InspectResponse
	for name, tamper := range map[string]func(*made){
		"privileged":        func(m *made) { m.HostConfig.Privileged = true },
		"capability":        func(m *made) { m.HostConfig.CapAdd = []string{"SYS_ADMIN"} },
		"other profile":     func(m *made) { m.HostConfig.SecurityOpt[1] = "seccomp=unconfined" },
		"new privileges":    func(m *made) { m.HostConfig.SecurityOpt = m.HostConfig.SecurityOpt[1:] },
		"writable root":     func(m *made) { m.HostConfig.ReadonlyRootfs = false },
		"network":           func(m *made) { m.HostConfig.NetworkMode = "bridge" },
		"host pids":         func(m *made) { m.HostConfig.PidMode = "host" },
		"host ipc":          func(m *made) { m.HostConfig.IpcMode = "host" },
		"host uts":          func(m *made) { m.HostConfig.UTSMode = "host" },
		"one more bind":     func(m *made) { m.HostConfig.Binds = append(m.HostConfig.Binds, "/:/host") },
		"another source":    func(m *made) { m.Mounts[0].Source = "/" },
		"shared mount":      func(m *made) { m.Mounts[0].Propagation = mount.PropagationRShared },
		"memory":            func(m *made) { m.HostConfig.Memory = 0 },
		"ulimit":            func(m *made) { m.HostConfig.Ulimits = m.HostConfig.Ulimits[1:] },
		"higher ulimit":     func(m *made) { m.HostConfig.Ulimits[0].Hard++ },
		"one more tmpfs":    func(m *made) { m.HostConfig.Tmpfs["/mnt"] = "rw" },
		"other tmpfs":       func(m *made) { m.HostConfig.Tmpfs["/tmp"] = "rw,exec" },
		"copy into tmpfs":   func(m *made) { m.HostConfig.Tmpfs["/tmp"] += ",tmpcopyup" },
		"service's proxy":   func(m *made) { m.Config.Env = append(m.Config.Env, "HTTPS_PROXY=http://user:secret@proxy") },
		"image's preload":   func(m *made) { m.Config.Env[len(m.Config.Env)-1] = "LD_PRELOAD=/evil.so" },
		"terminal":          func(m *made) { m.Config.Tty = true },
		"closed stdin":      func(m *made) { m.Config.OpenStdin = false },
		"nothing to read":   func(m *made) { m.ContainerJSONBase = nil },
		"no configuration":  func(m *made) { m.Config = nil },
		"no init":           func(m *made) { m.HostConfig.Init = nil },
		"root user":         func(m *made) { m.Config.User = "" },
		"automatic removal": func(m *made) { m.HostConfig.AutoRemove = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := samplePodman(t)
			m := fromPodman(r)
			tamper(&m)
			if _, ok := errors.AsType[*sandbox.PolicyError](checkPodman(r, m)); !ok {
				t.Error("no policy error")
			}
		})
	}
}

func second(_ recipe, err error) error { return err }
