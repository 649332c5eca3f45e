package gitdiff

import (
	"strings"
	"testing"
)

func TestCleanMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"plain":         {"subject\n\nbody\nmore\n", "subject\n\nbody\nmore\n"},
		"empty":         {" \n\n", "sandboxrun\n"},
		"no blank":      {"subject\nbody", "subject\n\nbody\n"},
		"trailers":      {"s\n\nSigned-off-by: L <l@x>\n  co-authored-by : x\nFixes #1\n", "s\n\n> Signed-off-by: L <l@x>\n>   co-authored-by : x\n> Fixes #1\n"},
		"cherry":        {"s\n\n(cherry picked from commit 1)", "s\n\n> (cherry picked from commit 1)\n"},
		"a web address": {"s\n\nhttps://localhost/x", "s\n\nhttps://localhost/x\n"},
		"control":       {"a\x1b[31m\x00b\r\n\nx\u202ey\xff", "a\\u001b[31m\\u0000b\n\nx\\u202ey\\xff\n"},
	} {
		if got := cleanMessage(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if n := len(cleanMessage(strings.Repeat("long line ", 1<<20) + strings.Repeat("\nx", 1<<20))); n > 64<<10 {
		t.Errorf("message of %d bytes", n)
	}
}
