package render

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

// calm fails the test when text would move a terminal's cursor, change how it shows other text, or is not UTF-8. Tabs
// and the colours of Paint are allowed.
func calm(t *testing.T, text string) {
	t.Helper()
	for _, c := range []string{ColorGood, ColorBad, ColorWarn, ColorDim, ColorBold, ColorNote, "0"} {
		text = strings.ReplaceAll(text, "\x1b["+c+"m", "")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co))
	}) {
		t.Errorf("shown: %q", text)
	}
}

var hostileTexts = []string{"plain", "\x1b]0;t\x07\x1b[2J", "a\r\nb\u2028c", "\u202e\u200b", "\xff\xc0\x80", "\u009b31m", strings.Repeat("é", 9000), "\x1b[0m"}

// FuzzTimeline formats any event of any kind: each gives at most one line, safe for a terminal.
func FuzzTimeline(f *testing.F) {
	kinds := slices.Sorted(maps.Keys(formatters))
	for i, s := range hostileTexts {
		raw, err := json.Marshal(map[string]any{"text": s, "tool": s, "input": map[string]string{"command": s}, "path": s, "error": s, "name": s, "reason": s, "exit_code": i})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), s, raw)
	}
	f.Add(uint8(0), "", []byte(`{"text":3}`))
	f.Add(uint8(1), "", []byte(`{"input":{"command":["a"]},"duration_ms":-9223372036854775808,"exit_code":null}`))
	f.Fuzz(func(t *testing.T, kind uint8, phase string, data []byte) {
		e := journal.Event{Run: phase, Phase: phase, Time: time.Unix(int64(kind)<<30, 0), Kind: kinds[int(kind)%len(kinds)], Data: data}
		for _, term := range []Terminal{{width: 80}, {IsTTY: true, color: true, width: 1}, {IsTTY: true, width: 40}} {
			tl := Timeline{}
			text := tl.Line(e, term)
			calm(t, text)
			if strings.Contains(text, "\n") {
				t.Errorf("more than a line: %q", text)
			}
		}
	})
}

// FuzzReport shows a result with the same untrusted text everywhere.
func FuzzReport(f *testing.F) {
	for _, s := range hostileTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out strings.Builder
		res := &document.Result{
			TaskID: s, RunID: "r", Summary: s, NotesForHuman: s,
			FilesChanged: []document.FileChange{{Path: s, OldPath: s, ChangeType: s, Highlights: []string{s, s}}},
			CommandsRun:  []document.CommandRun{{Command: s, Source: "agent"}, {Command: s, Phase: s, Source: "runner"}},
			Constraints:  []document.Judged{{Text: s, Evidence: s, Verdict: s}},
			Issues:       []document.Issue{{Code: s, Path: s, Description: s, SuggestedAction: s}},
			Git:          document.GitResult{Branch: s, Patch: s},
			Agent:        &document.AgentResult{Name: s, CLIVersion: s, Model: s, Claim: s},
			Box:          &document.BoxResult{Engine: s, Image: s, Network: document.BoxNetwork{Denied: []string{s}}, Cleanup: document.BoxCleanup{Left: []string{s}}},
			Timing:       map[string]int64{s: 5},
		}
		for _, term := range []Terminal{{}, {IsTTY: true, color: true, width: 30}} {
			out.Reset()
			if err := WriteReport(&out, term, res); err != nil {
				t.Fatal(err)
			}
			calm(t, out.String())
			if n := strings.Count(out.String(), "\n"); n > 60 {
				t.Errorf("a report of %d lines", n)
			}
		}
	})
}

// FuzzShownPatch shows a patch, and the input of a tool call as a person sees it before a decision.
func FuzzShownPatch(f *testing.F) {
	for _, s := range hostileTexts {
		f.Add("diff --git a/x b/x\n@@ -1 +1 @@\n-" + s + "\n+" + s + "\n")
	}
	f.Add(strings.Repeat("\t", 9000) + "\n\r")
	f.Fuzz(func(t *testing.T, text string) {
		var out strings.Builder
		if err := WritePatch(&out, Terminal{IsTTY: true, color: true, width: 80}, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		calm(t, out.String())
		shown := Indented(text, 32<<10)
		calm(t, shown)
		for line := range strings.Lines(shown) {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("line %q looks like one of ours", line)
			}
		}
	})
}
