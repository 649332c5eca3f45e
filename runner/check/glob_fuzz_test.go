package check

import (
	"path"
	"strings"
	"testing"
	"time"
)

// FuzzGlob holds that what allows a path exactly also forbids it broadly, that
// spelling does not get around a prohibition, and that no pattern takes long.
func FuzzGlob(f *testing.F) {
	for _, s := range [][2]string{
		{"src/**", "src/a/b"}, {"*.go", "a.go"}, {"a", "a/b"}, {"{a,b}/[!c]*", "a/d"}, {"**/**/**", "x/y"}, {`a\*`, "a*"},
		{"é", "e\u0301"}, {".GITHUB/**", ".github\u200d/x"}, {"[", "["}, {"a/", "A/b"},
		{strings.Repeat("{a,b,}", 6), "aaaaaa"}, {"**/a/**/a/**/a/**/b", strings.Repeat("a/", 60) + "c"}, {"*a*a*a*a*a*b", strings.Repeat("a", 120)},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 1000 || len(name) > 4000 || ValidGlob(pattern) != "" || path.Clean("/"+name) != "/"+name || name == "" {
			t.Skip("no pattern or no path of a repository")
		}
		g := globs{pattern}
		began := time.Now()
		permitted, forbidden := g.permit(name), g.forbid(name)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q on %q took %s", pattern, name, took)
		}
		if permitted && !forbidden {
			t.Errorf("%q allows %q and does not forbid it", pattern, name)
		}
		if forbidden && !g.forbid(name+"/below") {
			t.Errorf("%q forbids %q and not what is below", pattern, name)
		}
	})
}
