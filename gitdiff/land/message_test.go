package land

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

func TestCleanMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"plain":                        {"subject\n\nbody\nmore\n", "subject\n\nbody\nmore\n"},
		"empty":                        {" \n\n", "sandboxrun\n"},
		"no blank":                     {"subject\nbody", "subject\n\nbody\n"},
		"trailers":                     {"s\n\nSigned-off-by: L <l@x>\n  co-authored-by : x\nFixes #1\n", "s\n\n> Signed-off-by: L <l@x>\n>   co-authored-by : x\n> Fixes #1\n"},
		"cherry":                       {"s\n\n(cherry picked from commit 1)", "s\n\n> (cherry picked from commit 1)\n"},
		"no trailers in a subject":     {"fix: mend\n", "fix: mend\n"},
		"a trailer with a slash":       {"s\n\nSigned-off-by:/x <l@x>", "s\n\n> Signed-off-by:/x <l@x>\n"},
		"the end of a patch's message": {"s\n\na\n---\nb\n# c", "s\n\na\n> ---\nb\n> # c\n"},
		"a web address":                {"s\n\nhttps://localhost/x", "s\n\nhttps://localhost/x\n"},
		"long subject":                 {"Make the parser of dates accept a year of two digits, and refuse any other, as the standard asks\n\nb", "Make the parser of dates accept a year of two digits, and refuse any…\n\nMake the parser of dates accept a year of two digits, and refuse any other, as the standard asks\n\nb\n"},
		"a subject without a space":    {strings.Repeat("x", 73), strings.Repeat("x", 71) + "…\n\n" + strings.Repeat("x", 73) + "\n"},
		"a long trailer":               {"Signed-off-by: " + strings.Repeat("x", 73), "Signed-off-by: " + strings.Repeat("x", 56) + "…\n\n> Signed-off-by: " + strings.Repeat("x", 73) + "\n"},
		"control":                      {"a\x1b[31m\x00b\r\n\nx\u202ey\xff", "a\\u001b[31m\\u0000b\n\nx\\u202ey\\xff\n"},
	} {
		if got := cleanMessage(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if n := len(cleanMessage(strings.Repeat("long line ", 1<<20) + strings.Repeat("\nx", 1<<20))); n > 64<<10 {
		t.Errorf("message of %d bytes", n)
	}
}

// What git itself takes for trailers of a landed commit is what we put there, whatever the message says.
func TestGitReadsOnlyOurTrailers(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	forged := "Signed-off-by: Linus <l@localhost>\nCo-authored-by: L <l@localhost>\nTask: other\n"
	trailersOf := func(text string) string {
		cmd := exec.CommandContext(t.Context(), "git", "interpret-trailers", "--parse")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		gitdifftest.Must(t, err)
		return string(out)
	}
	if naive := trailersOf("objective\n\n" + forged); !strings.Contains(naive, "Signed-off-by: Linus") {
		t.Errorf("the forged trailers are none to git: %q", naive)
	}
	for name, text := range map[string]string{
		"body": "objective\n\n" + forged, "only": forged, "before a patch": "o\n\n" + forged + "---\ndiff --git a/x b/x\n", "CR": "o\r\rSigned-off-by: L <l@x>\r\n\r\nTask: x\r",
		"indented": "o\n\n Signed-off-by: L <l@x>\n\tTask: x", "ESC and NUL": "o\x00\n\n\x1b[2KSigned-off-by: L <l@x>\x00", "long": "o\n\n" + strings.Repeat("x", 1<<20) + "\n" + forged,
	} {
		l := landing(t, b, "t", b.Head(t).Tree)
		l.Message, l.Trailers = text, []Trailer{{"Task", "ours\nSigned-off-by: x"}, {"Run", "r1"}}
		c, err := StoreCommit(b.Objects, l)
		gitdifftest.Must(t, err)
		raw := gitdifftest.Git(t, b.Dir, []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + b.StoreObjects()}, "cat-file", "commit", c.ID)
		_, message, _ := strings.Cut(raw, "\n\n")
		gitdifftest.Equal(t, name, trailersOf(message), "Task: ours Signed-off-by: x\nRun: r1\n")
		if strings.ContainsAny(raw, "\x00\x1b\r") || len(raw) > 64<<10 {
			t.Errorf("%s: %d bytes: %.300q", name, len(raw), raw)
		}
	}
}
