package table

import (
	"runtime"
	"slices"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/cmd/sandboxrun/selftest"
)

// selfTest returns the attack of the self-test with this ID, for its place in the table.
func selfTest(id string) attack.Attack {
	all := selftest.Attacks()
	return all[slices.IndexFunc(all, func(a attack.Attack) bool { return a.ID == id })]
}

// onlyAMD64 skips scripts that make a system call by its number.
func onlyAMD64(attack.Where) string {
	if runtime.GOARCH != "amd64" {
		return "the script has the system call numbers of amd64 only"
	}
	return ""
}

// boxed changes a setting of a task's box.
func boxed(name string, value any) func(map[string]any) {
	return func(task map[string]any) { task["box"] = map[string]any{name: value} }
}

// unrefused reports that a change that attacks a checkout landed, or that its refusal was not reported.
func unrefused(s attack.Scene) string {
	switch {
	case s.Landed != nil:
		return "it landed"
	case !s.Has("land_refused", ""):
		return "it did not land, and no issue says why"
	case s.Patch == "":
		return "it is lost: there is no patch"
	}
	return ""
}
