package probe

import (
	"embed"
	"strings"
)

//go:embed expected/*.txt
var expected embed.FS

// Expected is the picture a box on a runtime has to give, as Picture makes it;
// false for runtimes nobody has looked at.
func Expected(runtime string) ([]string, bool) {
	text, err := expected.ReadFile("expected/" + runtime + ".txt")
	if err != nil {
		return nil, false
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n"), true
}
