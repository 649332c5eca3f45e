package gitfile

import (
	"fmt"
	"strings"
)

// QuoteGlob makes a path match only itself in a pattern.
func QuoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Quote writes a path in git's quotes. An entry of GIT_ALTERNATE_OBJECT_DIRECTORIES needs them, where a colon ends one.
func Quote(path string) string {
	var quoted strings.Builder
	for _, c := range []byte(path) {
		if c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&quoted, `\%03o`, c)
		} else {
			quoted.WriteByte(c)
		}
	}
	return `"` + quoted.String() + `"`
}
