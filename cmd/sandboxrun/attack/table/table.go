// Package table lists every attack that a box and everything behind it must withstand.
package table

import (
	"runtime"
	"slices"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/cmd/sandboxrun/selftest"
)

// All is the whole table, group by group.
func All() []attack.Attack {
	return slices.Concat(
		gitExec(), gitTruth(), gitDoS(), landing(), forgery(),
		container(), resources(), logContent(), network(), secrets(), supply(),
	)
}

// selfTest is the attack of the self-test with this ID, which is part of the table at the place where it is named.
func selfTest(id string) attack.Attack {
	all := selftest.Attacks()
	return all[slices.IndexFunc(all, func(a attack.Attack) bool { return a.ID == id })]
}

// onlyAMD64 skips scripts that make a system call by its number.
func onlyAMD64(attack.Where) string {
	if runtime.GOARCH != "amd64" {
		return "the script knows the system calls of amd64 only"
	}
	return ""
}
