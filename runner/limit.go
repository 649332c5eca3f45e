package runner

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/sandbox"
)

// LimitsConfig is what only the user decides: how much one run may use beside
// what a task may ask for, and how much all runs of one state directory may use
// together. Zero fields were not decided.
type LimitsConfig struct {
	Runs        int   `json:"runs,omitempty"`         // at one time, of all runners of the state directory
	TotalMemory Size  `json:"total_memory,omitempty"` // of all those runs, by their limits; 0 for three quarters of this machine's
	WaitSeconds int   `json:"wait_seconds,omitempty"` // how long a run waits for the others; negative for not at all
	FreeDisk    Size  `json:"free_disk,omitempty"`    // the disk of the state directory keeps this much free
	Output      Size  `json:"output,omitempty"`       // standard output and error of all boxes of a run
	TreeFiles   int64 `json:"tree_files,omitempty"`   // files the tree may gain
	Temp        Size  `json:"temp,omitempty"`         // /tmp and HOME of a box, each
	OpenFiles   int64 `json:"open_files,omitempty"`   // per process
	IdleSeconds int   `json:"idle_seconds,omitempty"` // a command may be silent for so long; 0 for its whole run
}

const (
	defaultRuns = 8
	defaultWait = 600 // seconds
)

// defaultLimits leaves open what follows from the engine or the machine.
func defaultLimits() LimitsConfig { return LimitsConfig{Runs: defaultRuns, WaitSeconds: defaultWait} }

// over returns l where l decides and base where it does not.
func (l LimitsConfig) over(base LimitsConfig) LimitsConfig {
	return LimitsConfig{
		Runs:        firstSet(l.Runs, base.Runs),
		TotalMemory: firstSet(l.TotalMemory, base.TotalMemory),
		WaitSeconds: firstSet(l.WaitSeconds, base.WaitSeconds),
		FreeDisk:    firstSet(l.FreeDisk, base.FreeDisk),
		Output:      firstSet(l.Output, base.Output),
		TreeFiles:   firstSet(l.TreeFiles, base.TreeFiles),
		Temp:        firstSet(l.Temp, base.Temp),
		OpenFiles:   firstSet(l.OpenFiles, base.OpenFiles),
		IdleSeconds: firstSet(l.IdleSeconds, base.IdleSeconds),
	}
}

// apply puts what the user decided into the limits of a box.
func (l LimitsConfig) apply(to *sandbox.Limits) {
	to.FreeBytes = firstSet(int64(l.FreeDisk), to.FreeBytes)
	to.OutputBytes = firstSet(int64(l.Output), to.OutputBytes)
	to.DiskInodes = firstSet(l.TreeFiles, to.DiskInodes)
	to.TmpBytes = firstSet(int64(l.Temp), to.TmpBytes)
	to.OpenFiles = firstSet(l.OpenFiles, to.OpenFiles)
}

// boxLimits are the limits of the next box: the boxes of a run share what it may
// print. A box that may print nothing is not to be had, as 0 means the default.
func (x *run) boxLimits() sandbox.Limits {
	l := x.plan.Box.Limits
	l.OutputBytes = max(1, l.OutputBytes-x.printed)
	return l
}

// treeGrowth is what the kernel lets a tree grow by, where it can be told to:
// a little beyond the limit. Whoever hits the limit shall be stopped with the
// reason; this is for what is written between two looks.
func (x *run) treeGrowth() gitdiff.Growth {
	l := x.plan.Box.Limits
	return gitdiff.Growth{Bytes: l.DiskBytes + l.DiskBytes/16 + 16<<20, Files: l.DiskInodes + l.DiskInodes/16 + 1000}
}

// minTemp is the least room for temporary files: shells and compilers want some.
const minTemp Size = 1 << 20

// validate reports what the schema cannot say.
func (l LimitsConfig) validate(at string, p *problems) {
	if l.TotalMemory != 0 && l.TotalMemory < minMemory {
		p.add(at+"/total_memory", "must be at least %s", minMemory)
	}
	if l.Temp != 0 && l.Temp < minTemp {
		p.add(at+"/temp", "must be at least %s", minTemp)
	}
}

// checkFloor refuses to make anything on a disk that is too full already.
func (x *run) checkFloor() error {
	var s unix.Statfs_t
	dir := x.r.o.State.Dir()
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("look at the free space of %s: %w", filepath.Base(dir), err)
	}
	floor := x.plan.Box.Limits.FreeBytes
	if free := int64(s.Bavail) * s.Bsize; free < floor {
		return &sandbox.LimitError{Limit: sandbox.LimitDisk, Which: sandbox.MeasureHostFree, Allowed: floor, Measured: free,
			Detail: fmt.Sprintf("the disk of the state directory has %d bytes free, less than the %d it must keep", free, floor)}
	}
	return nil
}

// limitReached is the part of an issue that says which limit ended a box; nil
// where none did, or nothing was measured. What the boxes of a run print counts
// together, so that the share of the last one is not told.
func (x *run) limitReached(err error) *ReachedLimit {
	l, ok := errors.AsType[*sandbox.LimitError](err)
	if !ok || l.Which == "" {
		return nil
	}
	if l.Which == sandbox.MeasureOutput {
		most := x.plan.Box.Limits.OutputBytes
		return &ReachedLimit{Name: l.Which, Allowed: most, Measured: most + 1}
	}
	return &ReachedLimit{Name: l.Which, Allowed: l.Allowed, Measured: l.Measured}
}
