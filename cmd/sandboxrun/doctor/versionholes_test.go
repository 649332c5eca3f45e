package doctor

import "testing"

func TestHoleIsOpenUntilTheFixOfItsOwnLine(t *testing.T) {
	t.Parallel()
	hole2025, containerd := holes[1], holes[2]
	for _, tc := range []struct {
		h           hole
		version     string
		open, known bool
	}{
		{hole2025, "1.1.5+ds1-1+deb12u1", true, true},
		{hole2025, "1.1.15", true, true}, // its line never got a fix
		{hole2025, "1.2.7", true, true},
		{hole2025, "1.2.8", false, true},
		{hole2025, "1.3.2", true, true},
		{hole2025, "1.3.3", false, true},
		{hole2025, "v1.4.0-rc.2", true, true},
		{hole2025, "1.4.0-rc.3", false, true},
		{hole2025, "1.4.0", false, true},
		{hole2025, "1.10.0", false, true},
		{hole2025, "2.0.0", false, true},
		{hole2025, "crun", false, false},
		{holes[0], "1.1.11", true, true},
		{holes[0], "1.1.12", false, true},
		{holes[0], "1.0.3", true, true},
		{holes[0], "1.2.0", false, true},
		{containerd, "1.6.20~ds1", true, true},
		{containerd, "1.7.29", false, true},
		{containerd, "2.1.4", true, true},
		{containerd, "2.2.0", false, true},
		{containerd, "", false, false},
	} {
		open, known := tc.h.in(tc.version)
		if open != tc.open || known != tc.known {
			t.Errorf("%s in %s %q: open %v, known %v; want %v, %v", tc.h.ids, tc.h.component, tc.version, open, known, tc.open, tc.known)
		}
	}
}

func TestHolesListFixesInAscendingOrder(t *testing.T) {
	t.Parallel()
	for _, h := range holes {
		for i, fix := range h.fixed {
			if canonical(fix) == "" {
				t.Errorf("%s: fix %q is no version", h.ids, fix)
			}
			if i > 0 {
				if open, known := (hole{fixed: []string{fix}}).in(h.fixed[i-1]); !open || !known {
					t.Errorf("%s: fix %s does not come after %s", h.ids, fix, h.fixed[i-1])
				}
			}
		}
	}
}

func TestPackagesWithTheFixOfAHoleAreKnown(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"1.1.5+ds1-1+deb12u1": true, "1.1.5+ds1-1+deb12u2": true, "1.1.5+ds1-1+deb12u0": false, "1.1.5+ds1-1": false, "1.1.5": false,
		"1.1.4+ds1-1+deb12u1": false, "1.1.5+ds1-1+deb12ux": false,
	} {
		if got := holes[0].backported(version); got != want {
			t.Errorf("%s of %s: %v", holes[0].ids, version, got)
		}
		if holes[1].backported(version) {
			t.Errorf("%s has the fix of %s", version, holes[1].ids)
		}
	}
}
