package confine

import (
	"os"
	"runtime"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// permitted are the system calls of a program that reads and writes files and has threads. Everything else fails with EPERM:
// sockets, new programs and processes, mounts, namespaces, tracing, keys, modules. The names are of several architectures; those
// that this one lacks are passed over.
var permitted = []string{
	// files and directories
	"read", "pread64", "readv", "preadv", "write", "pwrite64", "writev", "pwritev", "lseek", "close", "fsync", "fdatasync", "ftruncate",
	"open", "openat", "openat2", "stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2",
	"getdents64", "readlink", "readlinkat", "getcwd", "fgetxattr", "fcntl", "copy_file_range", "sendfile", "splice", "fadvise64",
	"mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat", "chmod", "fchmod", "fchmodat", "umask",
	"dup", "dup3", "pipe2", "eventfd2", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll",
	// memory, threads, signals and time, for the Go runtime
	"mmap", "munmap", "mprotect", "mremap", "mincore", "brk", "futex", "sched_yield", "sched_getaffinity", "set_robust_list", "rseq",
	"membarrier", "gettid", "getpid", "getppid", "exit", "exit_group", "restart_syscall", "sigaltstack", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
	"nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time", "getrandom", "getuid", "geteuid", "getgid", "getegid",
	"uname", "getrlimit", "getrusage",
}

// filterCalls has the kernel refuse all but the permitted system calls, to every thread of the process.
func filterCalls() error {
	runtime.LockOSThread() // the library sets no_new_privs on this thread, and the filter takes it to the others
	defer runtime.UnlockOSThread()
	here, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Clone(permitted), func(name string) bool {
		_, known := here.SyscallNames[name]
		return !known
	})
	return seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionErrno,
			Syscalls: []seccomp.SyscallGroup{{ // as if it did not exist: C libraries then use clone, whose arguments a filter can see
				Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS),
				Names:  []string{"clone3"},
			}, {
				Action: seccomp.ActionAllow,
				Names:  names,
				NamesWithCondtions: []seccomp.NameWithConditions{
					{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}}}, // no processes
					// Advice from 100 on takes pages out of the machine's use (MADV_HWPOISON).
					{Name: "madvise", Conditions: seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.LessThan, Value: 100}}},
					{Name: "tgkill", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())}}},
				},
			}},
		},
	})
}
