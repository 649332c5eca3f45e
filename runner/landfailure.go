package runner

import (
	"errors"
	"syscall"
)

// phaseLand is the one phase that writes into the user's repository.
const phaseLand = "land"

// landFailure says what a change that could not be landed is told to have failed
// of, and what a person can do about it.
func landFailure(err error) (code, action string) {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return "disk_limit", "free space on the disk of the repository; the change is kept in the patch"
	}
	return CodeLandFailed, "look whether the repository and the base commit are still there; the change is kept in the patch"
}
