package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// kept are the capabilities that stay with a process of root: a box leaves files that belong to others and that nobody may read.
const kept = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER

// keptForMarks is the capability that reading an attribute of the name space "trusted" takes. It is good for much else, by system
// calls that [filterCalls] refuses.
const keptForMarks = 1 << unix.CAP_SYS_ADMIN

// dropCapabilities takes all other capabilities than keep from every thread of the process, and those from one that has none nothing.
func dropCapabilities(keep uint32) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Permitted &= keep
	data[0].Effective &= keep
	data[0].Inheritable, data[1] = 0, unix.CapUserData{}
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0) //nolint:gosec // the kernel reads both
	runtime.KeepAlive(&data)
	if errno != 0 {
		return errno
	}
	return nil
}
