package config

import (
	"cmp"

	"golang.org/x/sys/unix"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

// Limits is what only the user decides: how much one run may use beside
// what a task may ask for, and how much all runs of one state directory may use
// together. Zero fields were not decided.
type Limits struct {
	Runs        int           `json:"runs,omitempty"`         // at one time, of all runners of the state directory
	TotalMemory document.Size `json:"total_memory,omitempty"` // of all those runs, by their limits; 0 for three quarters of this machine's
	WaitSeconds int           `json:"wait_seconds,omitempty"` // how long a run waits for the others; negative for not at all
	FreeDisk    document.Size `json:"free_disk,omitempty"`    // the disk of the state directory keeps this much free
	Output      document.Size `json:"output,omitempty"`       // standard output and error of all boxes of a run
	TreeFiles   int64         `json:"tree_files,omitempty"`   // files the tree may gain
	Temp        document.Size `json:"temp,omitempty"`         // /tmp and HOME of a box, each
	OpenFiles   int64         `json:"open_files,omitempty"`   // per process
	IdleSeconds int           `json:"idle_seconds,omitempty"` // a command may be silent for so long; 0 for its whole run
	// Model requests and their tokens, of one run and of all runs of the state directory in a day; 0 for no limit.
	Tokens         int64 `json:"tokens,omitempty"`
	Requests       int64 `json:"requests,omitempty"`
	TokensPerDay   int64 `json:"tokens_per_day,omitempty"`
	RequestsPerDay int64 `json:"requests_per_day,omitempty"`
}

const (
	defaultRuns = 8
	defaultWait = 600 // seconds
)

// defaultLimits leaves open what follows from the engine or the machine.
func defaultLimits() Limits { return Limits{Runs: defaultRuns, WaitSeconds: defaultWait} }

// over returns l where l decides and base where it does not.
func (l Limits) over(base Limits) Limits {
	return Limits{
		Runs:        cmp.Or(l.Runs, base.Runs),
		TotalMemory: cmp.Or(l.TotalMemory, base.TotalMemory),
		WaitSeconds: cmp.Or(l.WaitSeconds, base.WaitSeconds),
		FreeDisk:    cmp.Or(l.FreeDisk, base.FreeDisk),
		Output:      cmp.Or(l.Output, base.Output),
		TreeFiles:   cmp.Or(l.TreeFiles, base.TreeFiles),
		Temp:        cmp.Or(l.Temp, base.Temp),
		OpenFiles:   cmp.Or(l.OpenFiles, base.OpenFiles),
		IdleSeconds: cmp.Or(l.IdleSeconds, base.IdleSeconds),
		Tokens:      cmp.Or(l.Tokens, base.Tokens), Requests: cmp.Or(l.Requests, base.Requests),
		TokensPerDay: cmp.Or(l.TokensPerDay, base.TokensPerDay), RequestsPerDay: cmp.Or(l.RequestsPerDay, base.RequestsPerDay),
	}
}

// Apply puts what the user decided into the limits of a box.
func (l Limits) Apply(to *sandbox.Limits) {
	to.FreeBytes = cmp.Or(int64(l.FreeDisk), to.FreeBytes)
	to.OutputBytes = cmp.Or(int64(l.Output), to.OutputBytes)
	to.DiskInodes = cmp.Or(l.TreeFiles, to.DiskInodes)
	to.TmpBytes = cmp.Or(int64(l.Temp), to.TmpBytes)
	to.OpenFiles = cmp.Or(l.OpenFiles, to.OpenFiles)
}

// minTemp is the least room for temporary files: shells and compilers want some.
const minTemp document.Size = 1 << 20

// validate reports what the schema cannot say.
func (l Limits) validate(at string, p *document.Problems) {
	if l.TotalMemory != 0 && l.TotalMemory < document.MinMemory {
		p.Add(at+"/total_memory", "must be at least %s", document.MinMemory)
	}
	if l.Temp != 0 && l.Temp < minTemp {
		p.Add(at+"/temp", "must be at least %s", minTemp)
	}
}

// Quota is how many runs of a state directory may be active and how much memory
// they may use together, in bytes. It fills in what the configuration leaves to
// the machine.
func (l Limits) Quota() (runs int, memory int64) {
	runs, memory = cmp.Or(l.Runs, defaultRuns), int64(l.TotalMemory)
	var machine unix.Sysinfo_t
	if memory == 0 && unix.Sysinfo(&machine) == nil {
		memory = int64(machine.Totalram) * int64(machine.Unit) / 4 * 3
	}
	return runs, memory
}
