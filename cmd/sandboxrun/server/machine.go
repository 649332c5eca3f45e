package server

import (
	"context"

	"golang.org/x/sys/unix"

	"sandboxrun/cmd/sandboxrun/doctor"
	"sandboxrun/runner/config"
	"sandboxrun/runner/httpapi"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

// Machine answers the server's questions about this machine.
type Machine struct {
	Config  config.Config
	State   *state.State
	Examine func() *doctor.Examination
}

// Ready is "" when tasks can run, else what is missing: engine, image or disk.
func (m *Machine) Ready(ctx context.Context) string {
	x := m.Examine()
	defer x.Close()
	if x.EngineErr(ctx) != nil {
		return "engine"
	}
	if _, err := x.Engine.Image(ctx, m.Config.Box.Image); err != nil {
		return "image"
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(m.State.Dir(), &disk); err != nil || disk.Bavail*uint64(disk.Bsize) < uint64(sandbox.DefaultLimits().FreeBytes) {
		return "disk"
	}
	return ""
}

// Doctor checks the whole machine.
func (m *Machine) Doctor(ctx context.Context) httpapi.Diagnosis {
	x := m.Examine()
	defer x.Close()
	d := doctor.Diagnose(ctx, x)
	out := httpapi.Diagnosis{OK: d.OK, Checks: []httpapi.Finding{}}
	for _, f := range d.Checks {
		out.Checks = append(out.Checks, httpapi.Finding{Name: f.Name, Level: string(f.Level), Message: f.Message, Hint: f.Hint})
	}
	return out
}
