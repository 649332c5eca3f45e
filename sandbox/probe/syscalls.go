package probe

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// attempt is one system call with arguments that pass the permission checks and then fail, or succeed without a
// consequence, so that the error shows whether the caller had permission. A filter answers first.
type attempt struct {
	name string
	do   func() error
}

// raw is an attempt by number.
func raw(name string, number uintptr, args ...uintptr) attempt {
	var a [6]uintptr
	copy(a[:], args)
	return attempt{name, func() error {
		if _, _, errno := unix.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
			return errno
		}
		return nil
	}}
}

const (
	none = ^uintptr(0) // not a descriptor: -1
	// wild is an address no process has mapped.
	wild = uintptr(1)
	// Flags no kernel knows.
	noFlags = uintptr(0xdeadbee0)
)

// attempts are the calls used to escape from containers, and others a box has no reason to make. Memory arguments are
// wild on purpose: a kernel that reads them has let the caller through.
var attempts = []attempt{
	raw("acct", unix.SYS_ACCT, wild),
	raw("add_key", unix.SYS_ADD_KEY, wild, wild, wild, 1, none),
	raw("bpf", unix.SYS_BPF, 0, wild, 64),
	raw("chroot", unix.SYS_CHROOT, wild),
	raw("clock_settime", unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, wild),
	raw("clone3", unix.SYS_CLONE3, wild, 0),
	raw("delete_module", unix.SYS_DELETE_MODULE, wild, 0),
	raw("fanotify_init", unix.SYS_FANOTIFY_INIT, noFlags, 0),
	raw("finit_module", unix.SYS_FINIT_MODULE, none, wild, noFlags),
	raw("fsopen", unix.SYS_FSOPEN, wild, 0),
	raw("init_module", unix.SYS_INIT_MODULE, wild, 0, wild),
	raw("io_uring_setup", unix.SYS_IO_URING_SETUP, 0, wild),
	raw("kexec_load", unix.SYS_KEXEC_LOAD, 0, 0, wild, noFlags),
	raw("keyctl", unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2), 0), // -3, the session's
	raw("mount_setattr", unix.SYS_MOUNT_SETATTR, none, wild, 0, wild, 0),
	raw("move_mount", unix.SYS_MOVE_MOUNT, none, wild, none, wild, 0),
	raw("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, none, wild, 0),
	raw("open_tree", unix.SYS_OPEN_TREE, none, wild, 0),
	raw("perf_event_open", unix.SYS_PERF_EVENT_OPEN, wild, 0, none, none, 0),
	raw("pidfd_getfd", unix.SYS_PIDFD_GETFD, none, 0, 0),
	raw("pivot_root", unix.SYS_PIVOT_ROOT, wild, wild),
	raw("process_vm_readv", unix.SYS_PROCESS_VM_READV, 1, wild, 1, wild, 1, 0),
	raw("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, 1, wild, 1, wild, 1, 0),
	raw("ptrace", unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, 0, 0, wild),
	raw("quotactl", unix.SYS_QUOTACTL, noFlags, 0, 0, 0),
	raw("reboot", unix.SYS_REBOOT, 0, 0, 0, 0),
	raw("request_key", unix.SYS_REQUEST_KEY, wild, wild, wild, none),
	raw("sethostname", unix.SYS_SETHOSTNAME, wild, 100_000),
	raw("setns", unix.SYS_SETNS, none, 0),
	raw("swapoff", unix.SYS_SWAPOFF, wild),
	raw("swapon", unix.SYS_SWAPON, wild, 0),
	raw("syslog", unix.SYS_SYSLOG, unix.SYSLOG_ACTION_SIZE_BUFFER, 0, 0),
	raw("umount2", unix.SYS_UMOUNT2, wild, 0),
	{"userfaultfd", func() error { return descriptor(unix.SYS_USERFAULTFD, unix.O_CLOEXEC) }},
	{"mount", func() error { return unix.Mount("none", "/", "of-no-known-type", 0, "") }},
	{"mount tmpfs", mountSomewhere},
	{"mknod device", func() error { return node(unix.S_IFCHR|0o600, unix.Mkdev(1, 3)) }},
	{"mknod block", func() error { return node(unix.S_IFBLK|0o600, unix.Mkdev(8, 0)) }},
	{"setuid root", func() error { return onThrowawayThread(unix.SYS_SETUID, 0) }},
	{"setgid root", func() error { return onThrowawayThread(unix.SYS_SETGID, 0) }},
	{"drop groups", func() error { return onThrowawayThread(unix.SYS_SETGROUPS, 0, 0) }},
}

// trySyscalls makes every attempt.
func trySyscalls(ctx context.Context) map[string]string {
	found := map[string]string{}
	for _, a := range attempts {
		found[a.name] = errorName(a.do())
	}
	// Each namespace is made for a child, which ends at once.
	for name, flags := range map[string]*syscall.SysProcAttr{
		"clone with a user namespace":   {Cloneflags: unix.CLONE_NEWUSER},
		"clone with a mount namespace":  {Cloneflags: unix.CLONE_NEWNS},
		"clone with a net namespace":    {Cloneflags: unix.CLONE_NEWNET},
		"unshare to a user namespace":   {Unshareflags: unix.CLONE_NEWUSER},
		"unshare to a cgroup namespace": {Unshareflags: unix.CLONE_NEWCGROUP},
	} {
		found[name] = errorName(inNamespace(ctx, flags))
	}
	return found
}

func inNamespace(ctx context.Context, attr *syscall.SysProcAttr) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "look", ChildArgument)
	cmd.SysProcAttr = attr
	return cmd.Run()
}

// descriptor makes a call that returns a descriptor, and closes it.
func descriptor(number uintptr, args ...uintptr) error {
	var a [3]uintptr
	copy(a[:], args)
	fd, _, errno := unix.RawSyscall(number, a[0], a[1], a[2])
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// onThrowawayThread makes a call that changes its thread, on a thread that ends afterwards.
func onThrowawayThread(number uintptr, args ...uintptr) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		var a [3]uintptr
		copy(a[:], args)
		if _, _, errno := unix.RawSyscall(number, a[0], a[1], a[2]); errno != 0 {
			result <- errno
			return
		}
		result <- nil
	}()
	return <-result
}

// node makes a device node in a temporary directory.
func node(mode uint32, device uint64) error {
	return temporarily(func(dir string) error { return unix.Mknod(filepath.Join(dir, "node"), mode, int(device)) })
}

// mountSomewhere mounts a tmpfs in a temporary directory, and unmounts it.
func mountSomewhere() error {
	return temporarily(func(dir string) error {
		if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
			return err
		}
		return unix.Unmount(dir, unix.MNT_DETACH)
	})
}

func temporarily(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "look-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the end of the box removes it anyway
	return do(dir)
}

// errorName is "ok", or the kernel's name of an error.
func errorName(err error) string {
	if err == nil {
		return "ok"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		if name := unix.ErrnoName(errno); name != "" {
			return name
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "ENOENT"
	}
	return err.Error()
}
