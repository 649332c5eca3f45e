package doctor

import (
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// hole is a published weakness of a program the engine consists of. Versions
// before the first fix of their own minor line have it; lines that never got a
// fix have it for ever.
type hole struct {
	component string
	ids       string
	fixed     []string // first fixed version of every line that has one, ascending
	allows    string   // what it lets an attacker do
	source    string
}

// holes are the weaknesses doctor looks for; the newest is of November 2025. A row is added when an advisory tells of a
// way out of a container, or to its files: ids and fixed versions are the advisory's, which the row names.
var holes = []hole{
	{"runc", "CVE-2024-21626", []string{"v1.1.12"}, "escape through a leaked directory descriptor",
		"github.com/opencontainers/runc advisory GHSA-xr7r-f8xq-vfvv"},
	{"runc", "CVE-2025-31133, CVE-2025-52565, CVE-2025-52881", []string{"v1.2.8", "v1.3.3", "v1.4.0-rc.3"},
		"escape through races on mounts while a container is created",
		"github.com/opencontainers/runc advisories of 2025-11-05"},
	{"containerd", "CVE-2024-25621", []string{"v1.7.29", "v2.0.7", "v2.1.5", "v2.2.0"},
		"access of other local users to containerd's directories",
		"cve.org record CVE-2024-25621"},
}

// backport is a distribution's package that has the fix of a hole without its
// number.
type backport struct {
	component, ids string
	upstream       string // version the package is made of
	mark           string // what its revision holds, before a number
	since          int    // first revision with the fix
	source         string
}

// backports are those doctor knows of.
var backports = []backport{
	{"runc", "CVE-2024-21626", "1.1.5", "+deb12u", 1, "Debian's changelog of runc 1.1.5+ds1-1+deb12u1"},
}

// backported says whether a version is a package with the fix of h.
func (h hole) backported(version string) bool {
	for _, b := range backports {
		_, revision, ok := strings.Cut(version, b.mark)
		if b.component != h.component || b.ids != h.ids || !ok || canonical(version) != "v"+b.upstream {
			continue
		}
		n, err := strconv.Atoi(revision)
		return err == nil && n >= b.since
	}
	return false
}

// in reports whether a component's version, as the engine names it, is older
// than the fix of its line. known is false for versions that say nothing.
func (h hole) in(version string) (open, known bool) {
	v := canonical(version)
	if v == "" {
		return false, false
	}
	for _, fix := range h.fixed {
		if semver.MajorMinor(v) == semver.MajorMinor(fix) {
			return semver.Compare(v, fix) < 0, true
		}
	}
	return semver.Compare(v, h.fixed[len(h.fixed)-1]) < 0, true
}

// canonical makes a semantic version of what engines report, such as
// "1.1.5+ds1-1+deb12u1" or "1.6.20~ds1-1"; "" when there is none in it.
func canonical(version string) string {
	v, _, _ := strings.Cut(version, "~")
	v, _, _ = strings.Cut(v, "+")
	v = "v" + strings.TrimPrefix(v, "v")
	if !semver.IsValid(v) {
		return ""
	}
	return v
}

// packaged reports whether a version carries a distribution's own suffix, so
// that fixes may be in it without a new number.
func packaged(version string) bool {
	return strings.ContainsAny(version, "~+") || strings.Contains(version, "ubuntu")
}
