package probe

import (
	"embed"
	"strings"
)

//go:embed expected/*.txt
var expected embed.FS

// PictureFile is where the picture of boxes on a runtime is; remapped is for an
// engine that remaps users.
func PictureFile(runtime string, remapped bool) string {
	if remapped {
		runtime += "-userns"
	}
	return "expected/" + runtime + ".txt"
}

// Expected is the picture such a box has to give, as Picture makes it; false
// where nobody has looked at one.
func Expected(runtime string, remapped bool) ([]string, bool) {
	text, err := expected.ReadFile(PictureFile(runtime, remapped))
	if err != nil {
		return nil, false
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n"), true
}
