package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// seccompProfile is the text of the profile every box is created with, and the hexadecimal SHA-256 of that text. Each
// create request carries it, so that an engine whose own default is "unconfined" cannot weaken it.
//
// It is Moby's default profile with everything resolved that depends on capabilities: no box has any. What depends on
// kernel and architecture stays in for the engine to resolve, which may be on another machine; Engine 20.10 is the
// first that understands all of it (minKernel, errnoRet).
var seccompProfile = sync.OnceValues(resolveSeccomp)

func resolveSeccomp() (text, hash string) {
	profile := seccomp.DefaultProfile()
	kept := profile.Syscalls[:0]
	for _, rule := range profile.Syscalls {
		if rule.Includes != nil && len(rule.Includes.Caps) > 0 {
			continue
		}
		if rule.Excludes != nil {
			rule.Excludes.Caps = nil
		}
		rule.Includes = orNil(rule.Includes)
		rule.Excludes = orNil(rule.Excludes)
		rule.Names = slices.DeleteFunc(slices.Clone(rule.Names), func(name string) bool { return slices.Contains(filteredCalls, name) })
		if len(rule.Names) > 0 {
			kept = append(kept, rule)
		}
	}
	kept = slices.Concat(kept, socketRules(), limitRules(), hugePageRules())
	profile.Syscalls = kept
	// Programs of the processor's other word sizes enter the kernel by other system calls, whose arguments cannot be
	// filtered: they could use sockets of any family, and rarely used kernel code. Without a rule they are killed.
	for i := range profile.ArchMap {
		profile.ArchMap[i].SubArches = nil
	}
	b, err := json.Marshal(profile)
	if err != nil {
		panic(fmt.Sprintf("the embedded seccomp profile cannot be encoded: %v", err))
	}
	sum := sha256.Sum256(b)
	return string(b), hex.EncodeToString(sum[:])
}

// filteredCalls are those that our own rules allow with some arguments only.
// Moby's rules for sockets name what is forbidden; ours name what is allowed. With
// socketcall, the way of 32-bit programs before Linux 4.3, a filter cannot see the
// arguments at all.
var filteredCalls = []string{"socket", "socketpair", "socketcall", "prlimit64", "mmap", "memfd_create", "shmget"}

// sockets are all that a program in a box may make: each other family, type and
// protocol is one more part of the kernel within an attacker's reach. Of the
// internet families that leaves TCP and UDP, of netlink the protocol by which
// programs list addresses and routes. A zero protocol is the usual one of the type.
var sockets = []struct {
	family, kind uint64 // kind 0 is every type
	protocols    []uint64
}{
	{unix.AF_UNIX, 0, nil},
	{unix.AF_INET, unix.SOCK_STREAM, []uint64{0, unix.IPPROTO_TCP}},
	{unix.AF_INET, unix.SOCK_DGRAM, []uint64{0, unix.IPPROTO_UDP}},
	{unix.AF_INET6, unix.SOCK_STREAM, []uint64{0, unix.IPPROTO_TCP}},
	{unix.AF_INET6, unix.SOCK_DGRAM, []uint64{0, unix.IPPROTO_UDP}},
	{unix.AF_NETLINK, 0, []uint64{unix.NETLINK_ROUTE}},
}

// socketType is the part of a socket's type that is not a flag.
const socketType = 0xf

func socketRules() []*seccomp.Syscall {
	equal := func(index uint, value uint64) specs.LinuxSeccompArg {
		return specs.LinuxSeccompArg{Index: index, Value: value, Op: specs.OpEqualTo}
	}
	rules := []*seccomp.Syscall{allow("socketpair", equal(0, unix.AF_UNIX))}
	for _, s := range sockets {
		args := []specs.LinuxSeccompArg{equal(0, s.family)}
		if s.kind != 0 {
			args = append(args, specs.LinuxSeccompArg{Index: 1, Value: socketType, ValueTwo: s.kind, Op: specs.OpMaskedEqual})
		}
		if s.protocols == nil {
			rules = append(rules, allow("socket", args...))
		}
		for _, p := range s.protocols {
			rules = append(rules, allow("socket", append(slices.Clone(args), equal(2, p))...))
		}
	}
	return rules
}

// allow allows a call whose arguments are all as given.
func allow(name string, args ...specs.LinuxSeccompArg) *seccomp.Syscall {
	return &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: []string{name}, Action: specs.ActAllow, Args: args}}
}

// hugePageRules allow memory of ordinary pages. Huge pages that the host has set
// aside are a pool of their own, which no limit of a box's memory counts.
func hugePageRules() []*seccomp.Syscall {
	without := func(name string, flags uint, huge uint64) *seccomp.Syscall {
		return allow(name, specs.LinuxSeccompArg{Index: flags, Value: huge, ValueTwo: 0, Op: specs.OpMaskedEqual})
	}
	const shmHuge = 0o4000 // SHM_HUGETLB
	return []*seccomp.Syscall{
		without("mmap", 3, unix.MAP_HUGETLB), without("memfd_create", 1, unix.MFD_HUGETLB), without("shmget", 2, shmHuge),
	}
}

// limitRules let a process set its own limits and read those of others. Programs of a box run as the guest's user, so
// they could otherwise set the guest's limits: without memory or processor time it would end, and the box with it.
func limitRules() []*seccomp.Syscall {
	const process, newLimit = 0, 2 // arguments of prlimit(2)
	var rules []*seccomp.Syscall
	for _, zero := range []uint{process, newLimit} {
		rules = append(rules, allow("prlimit64", specs.LinuxSeccompArg{Index: zero, Value: 0, Op: specs.OpEqualTo}))
	}
	return rules
}

func orNil(f *seccomp.Filter) *seccomp.Filter {
	if f == nil || len(f.Caps)+len(f.Arches) == 0 && f.MinKernel == nil {
		return nil
	}
	return f
}

// seccompFile writes the profile to dir, unless it exists, and returns its path: Podman reads the profile from a file.
func seccompFile(dir string) (string, error) {
	text, hash := seccompProfile()
	path := filepath.Join(dir, "seccomp-"+hash[:16]+".json")
	if err := writeOnce(path, text); err != nil {
		return "", fmt.Errorf("seccomp profile: %w", err)
	}
	return path, nil
}
