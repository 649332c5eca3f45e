package sandbox

import (
	"errors"
	"testing"
)

func TestOnMachine(t *testing.T) {
	t.Parallel()
	user := User{UID: 10001, GID: 10002}
	for name, tc := range map[string]struct {
		info Info
		want User
		ok   bool
	}{
		"no namespaces":         {Info{Security: []string{"seccomp"}}, user, true},
		"no security options":   {Info{}, user, true},
		"remapped":              {Info{Security: []string{"seccomp", "userns"}, RemappedRoot: User{231072, 300000}}, User{241073, 310002}, true},
		"mapping not reported":  {Info{Security: []string{"userns"}}, User{}, false},
		"rootless":              {Info{Security: []string{"rootless"}}, User{}, false},
		"rootless and remapped": {Info{Security: []string{"userns", "rootless"}, RemappedRoot: User{1, 1}}, User{}, false},
	} {
		got, err := tc.info.OnMachine(user)
		if _, unavailable := errors.AsType[*UnavailableError](err); got != tc.want || unavailable == tc.ok {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
