package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// guestMemory is the Go heap the guest aims to stay under, in bytes. It counts
// against the box: two windows' worth for each connection it carries is less.
const guestMemory = 64 << 20

// Main makes this process a box's main process: it keeps itself small,
// takes standard input and output as the tunnel and runs [Run] until the
// tunnel or ctx ends. It changes process-wide settings, so nothing else may run
// in the process.
//
// It is best started without an init above it. As process 1 it collects
// orphans itself, Linux spares it the SIGKILL of its own box (gVisor does not),
// and no other process holds the tunnel's descriptors where the box could write
// into them. It survives every other signal the box can send.
func Main(ctx context.Context) error {
	runtime.GOMAXPROCS(2) // every P and its threads count against the box's pids
	debug.SetMemoryLimit(guestMemory)
	debug.SetGCPercent(50)
	// Programs in the box run as the same user. Not being dumpable makes
	// /proc/<pid>/fd root's, so that a stray "> /proc/1/fd/1" does not write
	// into the tunnel: prctl(2), PR_SET_DUMPABLE.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("protect guest: %w", err)
	}
	if err := ignoreSignals(); err != nil {
		return fmt.Errorf("protect guest: %w", err)
	}
	tunnel, err := openStdio()
	if err != nil {
		return err
	}
	if os.Getpid() == 1 {
		ctx, cancel := context.WithCancel(ctx)
		var reaper sync.WaitGroup
		reaper.Go(func() { reap(ctx) })
		defer reaper.Wait()
		defer cancel()
	}
	return Run(ctx, tunnel, Config{})
}

type stdio struct {
	io.Reader
	io.Writer
	close func() error
}

func (s stdio) Close() error { return s.close() }

// openStdio takes over descriptors 0 and 1. They are made non-blocking first:
// only then does closing one end a Read under way.
func openStdio() (io.ReadWriteCloser, error) {
	for _, fd := range []int{0, 1} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("open tunnel on standard input and output: %w", err)
		}
	}
	in, out := os.NewFile(0, "tunnel input"), os.NewFile(1, "tunnel output")
	return stdio{in, out, func() error { return errors.Join(in.Close(), out.Close()) }}, nil
}
