package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/moby/profiles/seccomp"
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
		kept = append(kept, rule)
	}
	profile.Syscalls = kept
	b, err := json.Marshal(profile)
	if err != nil {
		panic(fmt.Sprintf("the embedded seccomp profile cannot be encoded: %v", err))
	}
	sum := sha256.Sum256(b)
	return string(b), hex.EncodeToString(sum[:])
}

func orNil(f *seccomp.Filter) *seccomp.Filter {
	if f == nil || len(f.Caps)+len(f.Arches) == 0 && f.MinKernel == nil {
		return nil
	}
	return f
}
