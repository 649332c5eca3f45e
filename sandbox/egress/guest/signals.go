package guest

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keptSignals are those the guest must not or cannot ignore: no process can ignore the first two, the reaper waits for
// children, and the Go runtime interrupts its own threads. The runtime handles the last two from any sender without
// harm.
var keptSignals = []unix.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGCHLD, unix.SIGURG}

// lastSignal is the highest signal number of Linux: signal(7).
const lastSignal = 64

// kernelAction is struct sigaction as the kernel reads it. On every processor it has at most these four words, and all
// but the first are zero here.
type kernelAction struct {
	handler                uintptr
	flags, restorer, extra uint64
}

// ignoreSignals makes the kernel discard every signal that a program of the box can send to the guest, which has the
// same user. Otherwise one "kill -TERM 1" ends the box, and "kill -QUIT 1" writes a stack trace into the result.
//
// os/signal is not enough: a fault signal (SIGSEGV, SIGTRAP) sent by rt_sigqueueinfo(2) with a code of the sender's
// choice looks like a fault of its own to the Go runtime. A real fault still ends the guest: the kernel does not let a
// program ignore it.
func ignoreSignals() error {
	action := kernelAction{handler: 1} // SIG_IGN
	for s := unix.Signal(1); s <= lastSignal; s++ {
		if slices.Contains(keptSignals, s) {
			continue
		}
		const setSize = lastSignal / 8
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, setSize, 0, 0) //nolint:gosec // the kernel only reads it, during the call
		if errno != 0 {
			return fmt.Errorf("ignore %s: %w", s, errno)
		}
	}
	return nil
}
