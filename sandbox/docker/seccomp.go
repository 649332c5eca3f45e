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

// seccompProfile is the text of the profile every box is created with, and the
// hexadecimal SHA-256 of that text. It is sent with each box so that an engine
// whose own default is "unconfined" cannot weaken it.
//
// It is Moby's default profile with everything resolved that depends on
// capabilities: no box has any. What depends on kernel and architecture stays
// in for the engine to resolve, whose machine may not be this one; Engine 20.10
// is the first that understands all of it (minKernel, errnoRet).
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
	kept = append(append(kept, socketRules()...), limitRules()...)
	profile.Syscalls = kept
	// Programs of the processor's other word sizes come to the kernel by another
	// door, where arguments cannot be filtered: sockets of any family, and code
	// that hardly anybody uses. Without a rule they are ended.
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
// address family at all.
var filteredCalls = []string{"socket", "socketcall", "prlimit64"}

// socketFamilies are all a program in a box may use: each other family is one
// more part of the kernel within an attacker's reach.
var socketFamilies = []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

func socketRules() []*seccomp.Syscall {
	var rules []*seccomp.Syscall
	for _, family := range socketFamilies {
		rules = append(rules, &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{
			Names: []string{"socket"}, Action: specs.ActAllow,
			Args: []specs.LinuxSeccompArg{{Index: 0, Value: family, Op: specs.OpEqualTo}},
		}})
	}
	return rules
}

// limitRules let a process set its own limits and read those of others. Programs
// of a box run as the guest's user, so they could otherwise set the guest's: with
// no memory or processor time left it would end, and the box with it.
func limitRules() []*seccomp.Syscall {
	const process, newLimit = 0, 2 // arguments of prlimit(2)
	var rules []*seccomp.Syscall
	for _, zero := range []uint{process, newLimit} {
		rules = append(rules, &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{
			Names: []string{"prlimit64"}, Action: specs.ActAllow,
			Args: []specs.LinuxSeccompArg{{Index: zero, Value: 0, Op: specs.OpEqualTo}},
		}})
	}
	return rules
}

func orNil(f *seccomp.Filter) *seccomp.Filter {
	if f == nil || len(f.Caps)+len(f.Arches) == 0 && f.MinKernel == nil {
		return nil
	}
	return f
}

// seccompFile writes the profile to dir, unless it is there, and returns its path:
// Podman reads the profile from a file.
func seccompFile(dir string) (string, error) {
	text, hash := seccompProfile()
	path := filepath.Join(dir, "seccomp-"+hash[:16]+".json")
	if err := writeOnce(path, text); err != nil {
		return "", fmt.Errorf("seccomp profile: %w", err)
	}
	return path, nil
}
