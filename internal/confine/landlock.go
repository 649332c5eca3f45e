package confine

import (
	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// LandlockVersion is the version of Landlock that the kernel offers; 0 where it has none, or was started without.
func LandlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// onlyPaths has the kernel refuse every path but those, every connection and every signal to another process, as far as its
// version of Landlock goes. New objects are renamed from one directory of the store to another, which the first version cannot
// permit: the library then restricts no paths at all.
func onlyPaths(p Paths) error {
	rules := []landlock.Rule{landlock.RODirs(p.Read...)}
	if len(p.Write) > 0 {
		rules = append(rules, landlock.RWDirs(p.Write...).WithRefer())
	}
	return landlock.V7.BestEffort().Restrict(rules...)
}
