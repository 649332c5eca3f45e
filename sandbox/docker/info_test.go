package docker

import (
	"testing"

	"sandboxrun/sandbox"
)

func TestRemappedRoot(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]sandbox.User{
		"/var/lib/docker/231072.300000":     {UID: 231072, GID: 300000},
		"/var/lib/docker/231072.300000/":    {UID: 231072, GID: 300000},
		"/var/lib/docker":                   {},
		"/var/lib/docker.1":                 {},
		"/1.2/docker":                       {},
		"/var/lib/docker/-1.5":              {},
		"/var/lib/docker/231072.":           {},
		"/var/lib/docker/99999999999.1":     {},
		"/var/lib/docker/231072.231072.bak": {},
		"":                                  {},
	} {
		if got := remappedRoot(dir); got != want {
			t.Errorf("%q: %v, want %v", dir, got, want)
		}
	}
}
