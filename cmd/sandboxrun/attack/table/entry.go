package table

import (
	"runtime"
	"slices"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/cmd/sandboxrun/selftest"
)

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

// boxed gives a task's box a setting.
func boxed(name string, value any) func(map[string]any) {
	return func(task map[string]any) { task["box"] = map[string]any{name: value} }
}

// unrefused says that a change landed which attacks whoever checks it out, or that nobody was told why it did not.
func unrefused(s attack.Scene) string {
	switch {
	case s.Landed != nil:
		return "it landed"
	case !s.Has("land_refused", ""):
		return "it did not land and nobody says why"
	case s.Patch == "":
		return "it is lost: there is no patch"
	}
	return ""
}
