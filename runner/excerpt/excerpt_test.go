package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb\nc é 日本 🎉", "a\tb\nc é 日本 🎉"},
		{"colour", "\x1b[31mred", `\x1b[31mred`},
		{"title and bell", "\x1b]0;x\x07", `\x1b]0;x\x07`},
		{"clipboard", "\x1b]52;c;aGk=\x1b\\", `\x1b]52;c;aGk=\x1b\`},
		{"overwrite", "ok\rno", `ok\x0dno`},
		{"delete", "a\x7f", `a\x7f`},
		{"eight-bit controls", "\u009b31m\u0085", `\u009b31m\u0085`},
		{"bidi", "a\u202eb\u2066c", `a\u202eb\u2066c`},
		{"invisible", "a\u200bb\u2060c\ufeff", `a\u200bb\u2060c\ufeff`},
		{"tags", "a\U000e0041", `a\U000e0041`},
		{"separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"private use", "\ue000", `\ue000`},
		{"not UTF-8", "a\xff\xc3", `a\xff\xc3`},
		{"replacement character itself", "a\ufffd", "a\ufffd"},
		{"NUL", "a\x00", `a\x00`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Printable(tt.in); got != tt.want {
				t.Errorf("Printable(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestHeadTailNeverSplitsACharacter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(rapid.SampledFrom([]string{"é", "日", "🎉", "aé"}).Draw(t, "unit"), rapid.IntRange(0, 200).Draw(t, "n"))
		limit := rapid.IntRange(8, 100).Draw(t, "limit")
		got := HeadTail(s, limit)
		if !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
			t.Fatalf("headTail(%q, %d) = %q", s, limit, got)
		}
		if len(s) <= limit && got != s {
			t.Fatalf("short text changed to %q", got)
		}
		if len(got) > limit+60 {
			t.Fatalf("%d bytes for a limit of %d", len(got), limit)
		}
	})
}

func TestHeadTailCountsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	if got, want := HeadTail("aaaa"+strings.Repeat("x", 92)+"bbbb", 8), "aaaa\n[… 92 bytes left out …]\nbbbb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
