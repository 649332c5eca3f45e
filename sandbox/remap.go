package sandbox

import (
	"errors"
	"slices"
)

// OnMachine returns the user of the engine's machine that the user u of a box
// maps to. That user has to own the box's tree; it is another one than u where
// the engine remaps users. The error is an [*UnavailableError] where the engine
// does not report the mapping, or where nobody outside could give files away.
func (i Info) OnMachine(u User) (User, error) {
	var err error
	switch {
	case slices.Contains(i.Security, "rootless"):
		err = errors.New("it is rootless, so only its own namespace could give files to the users of its boxes")
	case !slices.Contains(i.Security, "userns"):
		return u, nil
	case i.RemappedRoot == User{}:
		err = errors.New("it remaps users and does not say to whom")
	default:
		return User{UID: i.RemappedRoot.UID + u.UID, GID: i.RemappedRoot.GID + u.GID}, nil
	}
	return User{}, &UnavailableError{
		Op: "give trees to boxes", Err: err, Hint: "use an engine of root's; userns-remap is the tier that rootless is",
	}
}
