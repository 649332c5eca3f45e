// Package confine takes rights away from the calling process for good, before it reads bytes of a stranger: memory, processor
// time, files, the paths it can open, capabilities, and most system calls. What a kernel does not offer is named and left out.
package confine

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Limits bound what the process can use. The kernel enforces them.
type Limits struct {
	// MemoryBytes bounds the writable memory that the process has mapped (RLIMIT_DATA). The limit of the address space is of
	// no use: the Go runtime reserves much more than it uses.
	MemoryBytes int64
	CPU         time.Duration // processor time of all threads together, in whole seconds, at least one
	FileBytes   int64         // size of the largest file it can write
	Files       int           // open files
}

// Paths are the directories that the process can open, with all that is in them. Where the kernel has Landlock, it cannot open
// anything else. What is open already stays open.
type Paths struct {
	Read  []string // files can be read, and nothing else
	Write []string // files can be made, written, renamed and removed as well
	// Marks says that attributes which only root can read (trusted.*) can be read as well.
	Marks bool
}

// Lacking lists the walls that a kernel does not have; empty where it has all.
type Lacking []string

// Self takes the rights of the calling process away. After an error the process must not go on: it may have any of them. Signals
// that report a limit are left to the Go runtime, which ignores them: the limit of processor time ends the process by SIGKILL a
// second later, and the one of file sizes makes the writing fail.
func Self(l Limits, p Paths) (Lacking, error) {
	for _, one := range []struct {
		what     string
		resource int
		limit    unix.Rlimit
	}{
		{"core files", unix.RLIMIT_CORE, unix.Rlimit{}},
		{"memory", unix.RLIMIT_DATA, same(l.MemoryBytes)},
		{"processor time", unix.RLIMIT_CPU, unix.Rlimit{Cur: seconds(l.CPU), Max: seconds(l.CPU) + 1}},
		{"file size", unix.RLIMIT_FSIZE, same(l.FileBytes)},
		{"open files", unix.RLIMIT_NOFILE, same(int64(l.Files))},
	} {
		if err := lower(one.resource, one.limit); err != nil {
			return nil, fmt.Errorf("limit %s: %w", one.what, err)
		}
	}
	var lacking Lacking
	if LandlockVersion() == 0 {
		lacking = append(lacking, "Landlock")
	} else if err := onlyPaths(p); err != nil {
		return nil, fmt.Errorf("restrict paths: %w", err)
	}
	keep := uint32(kept)
	if p.Marks {
		keep |= keptForMarks
	}
	if err := dropCapabilities(keep); err != nil {
		return nil, fmt.Errorf("drop capabilities: %w", err)
	}
	if err := filterCalls(); err != nil {
		return nil, fmt.Errorf("filter system calls: %w", err)
	}
	return lacking, nil
}

func same(n int64) unix.Rlimit { return unix.Rlimit{Cur: uint64(n), Max: uint64(n)} }

func seconds(d time.Duration) uint64 { return uint64(max(1, (d+time.Second-1)/time.Second)) }

// lower sets a limit, or keeps the one there is where that is tighter.
func lower(resource int, limit unix.Rlimit) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	limit.Max = min(limit.Max, now.Max)
	limit.Cur = min(limit.Cur, limit.Max)
	return unix.Setrlimit(resource, &limit)
}
