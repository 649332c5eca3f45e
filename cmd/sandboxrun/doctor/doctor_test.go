package doctor

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"sandboxrun/agents"
	_ "sandboxrun/agents/all" // registers the agents
	"sandboxrun/images"
	"sandboxrun/runner/config"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

// fakeEngine is an engine that only answers requests for information.
type fakeEngine struct {
	info  sandbox.Info
	err   error
	image sandbox.ImageInfo
}

func (f fakeEngine) Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, sandbox.ErrOverlayUnsupported
}

func (f fakeEngine) Reap(context.Context, func(string) bool) ([]string, error) { return nil, nil }

func (f fakeEngine) Info(context.Context) (sandbox.Info, error) { return f.info, f.err }

func (f fakeEngine) Image(_ context.Context, ref string) (sandbox.ImageInfo, error) {
	if f.image.ID == "" {
		return sandbox.ImageInfo{}, &sandbox.ImageError{Image: ref, Reason: "not found"}
	}
	return f.image, nil
}

func (f fakeEngine) Images(context.Context, string) ([]sandbox.ImageInfo, error) {
	if f.image.ID == "" {
		return nil, nil
	}
	return []sandbox.ImageInfo{f.image}, nil
}

func (f fakeEngine) Close() error { return nil }

// goodInfo is the report of an engine without a problem.
func goodInfo() sandbox.Info {
	return sandbox.Info{
		Name: "docker", Version: "29.1.0", APIVersion: "1.52", Endpoint: "unix:///dev/null", OS: "linux", Arch: "x86_64",
		Kernel: "6.18", CgroupVersion: "2", StorageDriver: "overlay2", RootDir: "/var/lib/docker/231072.231072",
		Runtimes: []string{"runc", "runsc"}, DefaultRun: "runc",
		Components: []sandbox.Component{{Name: "runc", Version: "1.3.3"}, {Name: "containerd", Version: "v2.2.0"}},
		Security:   []string{"seccomp", "apparmor", "userns"}, RemappedRoot: sandbox.User{UID: 231072, GID: 231072}, MemoryLimit: true, SwapLimit: true, PIDsLimit: true, CPULimit: true,
	}
}

// levels runs doctor on a fake engine and returns the finding of each check.
func levels(t *testing.T, eng fakeEngine) (map[string]Finding, bool) {
	t.Helper()
	state, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := Diagnose(t.Context(), &Examination{
		Getenv: func(string) string { return "" }, Config: config.Default(), State: state,
		Open: func() (Engine, error) { return eng, nil },
	})
	found := map[string]Finding{}
	for _, f := range d.Checks {
		if f.Message == "" {
			t.Errorf("%s has no message", f.Name)
		}
		if f.Level == LevelFail && f.Hint == "" {
			t.Errorf("%s fails without a hint", f.Name)
		}
		found[f.Name] = f
	}
	return found, d.OK
}

func TestDoctorReportsProblemsOfAnEngine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, check string
		change      func(*sandbox.Info)
		want        Level
		says        string
	}{
		{"good components", "engine components", func(*sandbox.Info) {}, LevelPass, "runc 1.3.3"},
		{"old runc", "engine components", func(i *sandbox.Info) { i.Components[0].Version = "1.1.5+ds1-1+deb12u1" }, LevelCaution, "CVE-2025-31133"},
		{"distribution's runc", "engine components", func(i *sandbox.Info) { i.Components[0].Version = "1.1.5+ds1-1+deb12u1" }, LevelCaution, "distribution's package"},
		{"old containerd", "engine components", func(i *sandbox.Info) { i.Components[1].Version = "1.6.20" }, LevelCaution, "CVE-2024-25621"},
		{"silent engine", "engine components", func(i *sandbox.Info) { i.Components = nil }, LevelCaution, "does not report"},
		{"limits", "cgroups", func(*sandbox.Info) {}, LevelPass, "cgroup v2"},
		{"no pids limit", "cgroups", func(i *sandbox.Info) { i.PIDsLimit = false }, LevelFail, "pids"},
		{"no swap accounting", "cgroups", func(i *sandbox.Info) { i.SwapLimit = false }, LevelCaution, "swap"},
		{"no seccomp", "seccomp", func(i *sandbox.Info) { i.Security = nil }, LevelFail, "system calls"},
		{"remapped users", "user namespaces", func(*sandbox.Info) {}, LevelPass, "user 231072 "},
		{"rootless", "user namespaces", func(i *sandbox.Info) { i.Security = []string{"rootless"} }, LevelFail, "rootless"},
		{"mapping of users not reported", "user namespaces", func(i *sandbox.Info) { i.RemappedRoot = sandbox.User{} }, LevelFail, "does not report the mapping"},
		{"root", "user namespaces", func(i *sandbox.Info) { i.Security = []string{"seccomp"} }, LevelCaution, "off"},
		{"gVisor", "sandbox runtime", func(*sandbox.Info) {}, LevelPass, "runsc"},
		{"no gVisor", "sandbox runtime", func(i *sandbox.Info) { i.Runtimes = []string{"runc"} }, LevelCaution, "kernel"},
		{"tier of remapped users", "isolation tier", func(*sandbox.Info) {}, LevelPass, "userns"},
		{"tier of runsc by default", "isolation tier", func(i *sandbox.Info) { i.DefaultRun = "runsc" }, LevelPass, "runsc (runtime runsc)"},
		{"tier of a plain engine", "isolation tier", func(i *sandbox.Info) { i.Security = nil }, LevelCaution, "runc (runtime runc"},
		{"foreign processor", "engine platform", func(i *sandbox.Info) { i.Arch = "s390x" }, LevelFail, "cannot run"},
		{"remote engine", "engine socket", func(i *sandbox.Info) { i.Endpoint = "tcp://10.0.0.1:2375" }, LevelCaution, "tcp://"},
		{"open socket", "engine socket", func(*sandbox.Info) {}, LevelCaution, "/dev/null"}, // writable by all users
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			info := goodInfo()
			tc.change(&info)
			found, _ := levels(t, fakeEngine{info: info})
			if f := found[tc.check]; f.Level != tc.want || !strings.Contains(f.Message, tc.says) {
				t.Errorf("%s: %s %q, want %s and %q", tc.check, f.Level, f.Message, tc.want, tc.says)
			}
		})
	}
}

func TestDoctorFailsBelowTheRequiredTier(t *testing.T) {
	t.Parallel()
	for required, want := range map[sandbox.Tier]Level{"": LevelPass, sandbox.TierUserns: LevelPass, sandbox.TierRunsc: LevelFail} {
		x := &Examination{Config: config.Default(), info: goodInfo()}
		x.Config.Box.RequireTier = required
		if f := checkTier(t.Context(), x); f.Level != want || f.Level == LevelFail && f.Hint == "" {
			t.Errorf("required %q: %+v, want %s", required, f, want)
		}
	}
}

func TestDoctorInspectsTheAgentsOfTheImage(t *testing.T) {
	t.Parallel()
	found, ok := levels(t, fakeEngine{info: goodInfo()})
	if f := found["agent image"]; f.Level != LevelFail || ok {
		t.Errorf("no image: %s %q, all well: %v", f.Level, f.Message, ok)
	}
	found, _ = levels(t, fakeEngine{info: goodInfo(), image: sandbox.ImageInfo{ID: "sha256:1", Labels: map[string]string{images.AgentLabel + "claude": "0.1"}}})
	if f := found["agent image"]; f.Level != LevelCaution || !strings.Contains(f.Message, "claude 0.1 instead of") {
		t.Errorf("old agent: %s %q", f.Level, f.Message)
	}
	labels := map[string]string{}
	for _, agent := range agents.All() {
		a := agent.Info()
		labels[images.AgentLabel+a.Name] = a.Version
	}
	found, _ = levels(t, fakeEngine{info: goodInfo(), image: sandbox.ImageInfo{ID: "sha256:1", Labels: labels}})
	if f := found["agent image"]; f.Level != LevelPass {
		t.Errorf("right agents: %s %q", f.Level, f.Message)
	}
}

func TestDoctorSkipsEngineChecksWithoutAnEngine(t *testing.T) {
	t.Parallel()
	found, ok := levels(t, fakeEngine{err: &sandbox.UnavailableError{Op: "connect", Hint: "start it", Err: fs.ErrNotExist}})
	if f := found["engine"]; f.Level != LevelFail || f.Hint != "start it" || ok {
		t.Errorf("engine: %+v, all well: %v", f, ok)
	}
	for _, c := range checks {
		if _, said := found[c.name]; said == c.engine {
			t.Errorf("%s: said %v, needs the engine %v", c.name, said, c.engine)
		}
	}
}

func TestDoctorNeverPrintsAKey(t *testing.T) {
	t.Parallel()
	f := checkKeys(t.Context(), &Examination{Config: config.Default(), Getenv: func(string) string { return "sk-secret" }})
	if f.Level != LevelPass || strings.Contains(f.Message+f.Hint, "sk-secret") {
		t.Errorf("%s %q", f.Level, f.Message)
	}
}

func TestDoctorReportsAnUnusableState(t *testing.T) {
	t.Parallel()
	f := checkState(t.Context(), &Examination{StateErr: errors.New("belongs to another user")})
	if f.Level != LevelFail || !strings.Contains(f.Message, "another user") {
		t.Errorf("%s %q", f.Level, f.Message)
	}
}
