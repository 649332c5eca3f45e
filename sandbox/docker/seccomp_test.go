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
	// Even for a process with every capability nothing more is allowed.
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

func TestSocketsAreOfFourFamilies(t *testing.T) {
	t.Parallel()
	text, _ := seccompProfile()
	profile, err := seccomp.LoadProfile(text, &specs.Spec{Process: &specs.Process{}})
	if err != nil {
		t.Fatal(err)
	}
	var families []uint64
	for _, rule := range profile.Syscalls {
		if !slices.Contains(rule.Names, "socket") {
			continue
		}
		if rule.Action != specs.ActAllow || len(rule.Args) != 1 || rule.Args[0].Index != 0 || rule.Args[0].Op != specs.OpEqualTo {
			t.Fatalf("%+v", rule)
		}
		families = append(families, rule.Args[0].Value)
	}
	if len(profile.Architectures) != 1 {
		t.Errorf("system calls of %v", profile.Architectures)
	}
	if !slices.Equal(families, []uint64{1, 2, 10, 16}) { // unix, inet, inet6, netlink
		t.Errorf("families %v", families)
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
