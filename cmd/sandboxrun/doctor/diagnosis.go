// Package doctor inspects this machine: each check reports what works, what to know, and what a person can do.
package doctor

import (
	"context"
	"fmt"
)

// check is one thing doctor inspects. Checks that need the engine are left out when it does not answer: one FAIL
// reports that already.
type check struct {
	name   string
	engine bool
	run    func(context.Context, *Examination) Finding
}

// checks are all checks of doctor, in the order of the report.
var checks = []check{
	{"program", false, checkProgram},
	{"configuration", false, checkConfiguration},
	{"state directory", false, checkState},
	{"disk space", false, checkDisk},
	{"room taken", false, checkSizes},
	{"reading", false, checkReader},
	{"crashed runs", false, checkCrashed},
	{"engine", false, checkEngine},
	{"engine API", true, checkAPI},
	{"engine platform", true, checkPlatform},
	{"engine socket", true, checkSocket},
	{"engine components", true, checkComponents},
	{"cgroups", true, checkCgroups},
	{"seccomp", true, checkSeccomp},
	{"user namespaces", true, checkUserNamespaces},
	{"security modules", true, checkSecurityModules},
	{"sandbox runtime", true, checkRuntimes},
	{"isolation tier", true, checkTier},
	{"storage", true, checkStorage},
	{"restarts", true, checkRestarts},
	{"agent image", true, checkImage},
	{"workspace", true, checkWorkspace},
	{"keys", false, checkKeys},
	{"certificates", false, checkCertificates},
}

// Diagnosis is the document that doctor --json prints.
type Diagnosis struct {
	OK     bool      `json:"ok"` // no check failed
	Checks []Finding `json:"checks"`
}

// Diagnose runs every check under its bound.
func Diagnose(ctx context.Context, x *Examination) Diagnosis {
	d := Diagnosis{OK: true, Checks: []Finding{}}
	for _, c := range checks {
		if c.engine && x.EngineErr(ctx) != nil || ctx.Err() != nil {
			continue
		}
		cctx, cancel := context.WithTimeoutCause(ctx, checkBound, fmt.Errorf("no answer within %s", checkBound))
		f := c.run(cctx, x)
		cancel()
		f.Name = c.name
		d.Add(f)
	}
	return d
}

// Add records the findings of checks.
func (d *Diagnosis) Add(found ...Finding) {
	for _, f := range found {
		d.Checks = append(d.Checks, f)
		d.OK = d.OK && f.Level != LevelFail
	}
}
