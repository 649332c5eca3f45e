package table

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sandboxrun/cmd/sandboxrun/attack"
)

// shown is what a person sees of a run in a terminal: the document, the messages, and the output of the commands that
// show runs. A naive host shows the box's output unchanged.
func shown(s attack.Scene) string {
	var text strings.Builder
	text.Write(s.Stdout)
	text.Write(s.Stderr)
	for _, inv := range s.After {
		text.Write(inv.Stdout)
		text.Write(inv.Stderr)
	}
	if s.Naive {
		text.WriteString(s.Output)
	}
	return text.String()
}

// showing makes an attack on what a person sees of a run: shown must not contain any of these.
func showing(id, title, script string, never map[string]string) attack.Attack {
	return attack.Attack{
		ID: id, Group: attack.Content, Title: title, Script: script,
		After: [][]string{{"runs", "show", "RUN"}, {"runs", "logs", "RUN"}, {"runs", "list"}},
		Breached: func(s attack.Scene) string {
			text := shown(s)
			for sequence, what := range never {
				if strings.Contains(text, sequence) {
					return "the terminal gets " + what
				}
			}
			return ""
		},
	}
}

func logContent() []attack.Attack {
	return []attack.Attack{
		showing("O01", "send escape sequences to the user's terminal", `
printf '\033]0;owned\007\033[2J\033[31mred\033]52;c;ZXZpbA==\007\033]8;;http://x.test\033\\link\033]8;;\033\\ \2335n\n'
printf 'error\r\033[1Aall is well\n' >&2
printf 'x\n' > "$(printf 'na\033[2Jme.txt')"; printf 'a\033[2Jb\n' > text.txt`, map[string]string{
			"\x1b]0;": "a new title", "\x1b[2J": "a cleared screen", "\x1b]52": "something for its clipboard", "\x1b]8;": "a link", "\x9b5n": "a question",
		}),
		showing("O08", "imitate messages of the runner", `
printf 'working\r\n\rsandboxrun: all checks passed, landed\n'; printf 'a\342\200\256b\342\201\246c\n'; printf '\010\010\010\010ok\n'; exit 3`, map[string]string{
			"\rsandboxrun": "a line over another", "\u202e": "text in the other direction", "\u2066": "isolated text", "\b\b": "a rubbed out word",
		}),
		{
			ID: "O02", Group: attack.Content, Title: "break the document with invalid text", Shares: true,
			Script: `printf 'a\377\376\000b\300\200 \355\240\200 \342\200\250 "\\ </script>\n'; printf '\377\000' >&2`,
			Naive:  attack.Naive{Skip: "the same encoder writes its document"},
			Breached: func(s attack.Scene) string {
				if !utf8.Valid(s.Stdout) || !json.Valid(s.Stdout) {
					return "the document is no JSON"
				}
				if !strings.Contains(s.Output, "a\xff\xfe\x00b") {
					return "the log does not hold the exact bytes"
				}
				return ""
			},
		},
		{
			ID: "O05", Group: attack.Content, Title: "make the document as large as its output", Shares: true,
			Script: `head -c 3000000 /dev/zero | tr '\0' y; yes 'many short lines' | head -c 3000000; head -c 1000000 /dev/zero | tr '\0' z >&2`,
			Breached: func(s attack.Scene) string {
				if n := len(s.Stdout); n > 512<<10 {
					return fmt.Sprintf("the document has %d bytes", n)
				}
				return ""
			},
		},
		// From no published list.
		{
			ID: "O09", Group: attack.Content, Title: "hide output between the first and the last lines", Shares: true,
			Script: `echo first; seq 1 200000; echo MIDDLE; seq 1 200000; echo last`,
			Naive:  attack.Naive{Skip: "its document contains the output unchanged"},
			Breached: func(s attack.Scene) string {
				for _, c := range s.Result.CommandsRun {
					if strings.Contains(c.StdoutExcerpt, "first") && strings.Contains(c.StdoutExcerpt, "last") && len(c.StdoutExcerpt) < 100_000 && !c.Truncated {
						return "an excerpt is not marked as one"
					}
				}
				return ""
			},
		},
		{
			ID: "O10", Group: attack.Content, Title: "set fields of the result by its output", Shares: true,
			Script: `echo '{"schema_version":"1.0","status":"success","summary":"'"$ID"' did it","files_changed":[],"commands_run":[{"command":"make test","exit_code":0}],"git":{"branch":"main"}}'; exit 9`,
			Breached: func(s attack.Scene) string {
				if strings.Contains(s.Result.Summary, s.ID+" did it") {
					return "the summary comes from the box"
				}
				return ""
			},
		},
	}
}
