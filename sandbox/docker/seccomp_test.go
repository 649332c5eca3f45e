package docker

import (
	"slices"
	"testing"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

func TestSeccompProfileIsReadableAndStrict(t *testing.T) {
	t.Parallel()
	text, hash := seccompProfile()
	if len(hash) != 64 {
		t.Errorf("hash %q", hash)
	}
	// Even for a process with every capability the rest is forbidden.
	all := []string{"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_MODULE", "CAP_BPF", "CAP_PERFMON", "CAP_DAC_READ_SEARCH", "CAP_SYS_CHROOT"}
	profile, err := seccomp.LoadProfile(text, &specs.Spec{Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{Bounding: all}}})
	if err != nil {
		t.Fatal(err)
	}
	if profile.DefaultAction != specs.ActErrno {
		t.Errorf("default action %s", profile.DefaultAction)
	}
	allowed := map[string]bool{}
	for _, rule := range profile.Syscalls {
		if rule.Action == specs.ActAllow && len(rule.Args) == 0 {
			for _, name := range rule.Names {
				allowed[name] = true
			}
		}
	}
	for _, name := range []string{
		"mount", "umount2", "unshare", "setns", "bpf", "perf_event_open", "init_module", "kexec_load", "keyctl", "add_key",
		"open_by_handle_at", "userfaultfd", "io_uring_setup", "pivot_root", "chroot", "reboot", "swapon", "clone", "clone3",
		"quotactl", "syslog", "acct", "ptrace_unknown", "socket", "personality", "fsopen", "move_mount", "socketcall",
	} {
		if allowed[name] {
			t.Errorf("%s is allowed", name)
		}
	}
	for _, name := range []string{"read", "openat", "execve", "futex", "epoll_wait"} {
		if !allowed[name] {
			t.Errorf("%s is not allowed", name)
		}
	}
	if !slices.ContainsFunc(profile.Syscalls, func(s specs.LinuxSyscall) bool {
		return slices.Contains(s.Names, "clone3") && s.Action == specs.ActErrno && s.ErrnoRet != nil
	}) {
		t.Error("clone3 does not fail with ENOSYS, which the C library needs to fall back")
	}
}

// permits says whether a profile allows a call with these arguments, by the
// meaning that runtime-spec gives its rules.
func permits(t *testing.T, name string, args ...uint64) bool {
	t.Helper()
	text, _ := seccompProfile()
	profile, err := seccomp.LoadProfile(text, &specs.Spec{Process: &specs.Process{}})
	if err != nil {
		t.Fatal(err)
	}
	if len(profile.Architectures) != 1 {
		t.Fatalf("system calls of %v", profile.Architectures)
	}
	return slices.ContainsFunc(profile.Syscalls, func(rule specs.LinuxSyscall) bool {
		return rule.Action == specs.ActAllow && slices.Contains(rule.Names, name) && !slices.ContainsFunc(rule.Args, func(a specs.LinuxSeccompArg) bool {
			switch a.Op {
			case specs.OpEqualTo:
				return args[a.Index] != a.Value
			case specs.OpMaskedEqual:
				return args[a.Index]&a.Value != a.ValueTwo
			default:
				t.Fatalf("%s: operator %s", name, a.Op)
				return true
			}
		})
	})
}

func TestSocketsAreOfFewKinds(t *testing.T) {
	t.Parallel()
	const nonblock = 0o4000
	for _, c := range []struct {
		family, kind, protocol uint64
		want                   bool
	}{
		{1, 1, 0, true}, {1, 2, 0, true}, {1, 5, 0, true}, // AF_UNIX
		{2, 1, 0, true}, {2, 1 | nonblock, 6, true}, {2, 2, 0, true}, {2, 2, 17, true}, {10, 1, 6, true}, {10, 2 | nonblock, 0, true},
		{2, 1, 262, false}, {2, 1, 132, false}, {2, 5, 0, false}, {2, 5, 132, false}, {2, 2, 136, false}, {2, 6, 33, false}, {2, 2, 1, false}, {10, 2, 115, false}, {2, 3, 0, false}, {10, 3, 58, false},
		{16, 3, 0, true}, {16, 2, 0, true}, {16, 3, 12, false}, {16, 3, 9, false}, {16, 3, 16, false}, {16, 3, 4, false},
		{17, 3, 0, false}, {38, 5, 0, false}, {40, 1, 0, false}, {30, 1, 0, false}, {44, 3, 0, false},
	} {
		if got := permits(t, "socket", c.family, c.kind, c.protocol); got != c.want {
			t.Errorf("socket(%d, %d, %d): allowed %v, want %v", c.family, c.kind, c.protocol, got, c.want)
		}
	}
	if !permits(t, "socketpair", 1, 1, 0) || permits(t, "socketpair", 30, 1, 0) {
		t.Error("pairs of other sockets than AF_UNIX, or none of it")
	}
}

func TestHugePagesCannotBeTaken(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string]struct{ plain, huge []uint64 }{
		"mmap":         {[]uint64{0, 1 << 21, 3, 0x22, 0, 0}, []uint64{0, 1 << 21, 3, 0x22 | 0x40000 | 21<<26, 0, 0}},
		"memfd_create": {[]uint64{1, 1}, []uint64{1, 5}},
		"shmget":       {[]uint64{0, 1 << 21, 0o1600}, []uint64{0, 1 << 21, 0o5600}},
	} {
		if !permits(t, name, flags.plain...) || permits(t, name, flags.huge...) {
			t.Errorf("%s: ordinary pages %v, huge ones %v", name, permits(t, name, flags.plain...), permits(t, name, flags.huge...))
		}
	}
}

func TestLimitsOfOtherProcessesCanOnlyBeRead(t *testing.T) {
	t.Parallel()
	text, _ := seccompProfile()
	profile, err := seccomp.LoadProfile(text, &specs.Spec{Process: &specs.Process{}})
	if err != nil {
		t.Fatal(err)
	}
	var zero []uint
	for _, rule := range profile.Syscalls {
		if !slices.Contains(rule.Names, "prlimit64") {
			continue
		}
		if rule.Action != specs.ActAllow || len(rule.Args) != 1 || rule.Args[0].Value != 0 || rule.Args[0].Op != specs.OpEqualTo {
			t.Fatalf("%+v", rule)
		}
		zero = append(zero, rule.Args[0].Index)
	}
	if !slices.Equal(zero, []uint{0, 2}) { // the process is the caller, or no limit is given
		t.Errorf("allowed when these arguments are zero: %v", zero)
	}
}
