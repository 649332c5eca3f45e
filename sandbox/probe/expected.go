package probe

import (
	"embed"
	"strings"
)

//go:embed expected/*.txt
var expected embed.FS

// PictureFile is the path of the picture of boxes on a runtime; remapped is for an engine that remaps users.
func PictureFile(runtime string, remapped bool) string {
	if remapped {
		runtime += "-userns"
	}
	return "expected/" + runtime + ".txt"
}

// Expected is the picture such a box must give, in the form of Picture; false where none has been recorded.
func Expected(runtime string, remapped bool) ([]string, bool) {
	text, err := expected.ReadFile(PictureFile(runtime, remapped))
	if err != nil {
		return nil, false
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n"), true
}
