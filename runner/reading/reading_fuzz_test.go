package reading

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// worst are sentences that are long, deep, or made to make a pattern try again and again.
func worst() []string {
	return []string{
		strings.Repeat("do not change the public API and ", 240),
		strings.Repeat("do not ", 1100), strings.Repeat("不要", 4000), strings.Repeat("`a`", 2600), strings.Repeat("a, ", 2600),
		strings.Repeat("src/a ", 1300), strings.Repeat(". ", 4000), strings.Repeat("`", 8000), strings.Repeat("\"", 8000), strings.Repeat("保持", 4000),
		"keep " + strings.Repeat("the public API and ", 400) + "unchanged", strings.Repeat("/", 8000), strings.Repeat("a/", 4000),
		strings.Repeat("the ", 2000) + "unchanged", strings.Repeat("do not change the public API, ", 39), strings.Repeat("only ", 1600),
		strings.Repeat("公共接口和日志格式、", 700) + "不变", strings.Repeat("x", 8000), strings.Repeat(strings.Repeat("the ", 99)+", ", 20),
		strings.Repeat(strings.Repeat("保持", 190)+"。", 20), "\u202edo not change the public API", "do\u200bnot change the public API", "\x00", "\ufffd",
		strings.Repeat("e\u0301", 4000), strings.Repeat("ﬃ", 8000),
	}
}

// FuzzRead holds that no sentence makes the reading crash, take long, or lose words.
func FuzzRead(f *testing.F) {
	for _, s := range worst() {
		f.Add(s)
	}
	for _, s := range []string{"Do not change the public API.", "不要修改 `src/` 目录以外的文件", "`npm test` and `make` pass", "除 `a` 外,不要引入新的依赖", "最多修改一百零五个文件"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxSentence {
			t.Skip("no sentence of a task")
		}
		began := time.Now()
		r := Default().Read("/constraints/0", s)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q took %s", s, took)
		}
		if len(r.Checks) == 0 && r.Rest != s {
			t.Errorf("%q: rest %q", s, r.Rest)
		}
		for _, c := range r.Checks {
			if c.Words == "" || (c.Kind == "") == (c.Command == "") || c.Object() == nil {
				t.Errorf("%q: %+v", s, c)
			}
			if c.Command != "" && !strings.Contains(normalText(s), normalText(c.Command)) {
				t.Errorf("%q: a command that is not in it: %q", s, c.Command)
			}
		}
	})
}

// normalText is a text without what the reading may change of a command.
func normalText(s string) string {
	t, why := normalize(s)
	if why != "" {
		return s
	}
	return strings.ReplaceAll(t.plain(string(t.runes)), " ", "")
}

// Every sentence of the worst kind is read in a fraction of a second. The bound is for what would take forever: the race
// detector makes it twenty times slower, and other tests run beside it.
func TestTheWorstSentencesAreReadAtOnce(t *testing.T) {
	Default()
	for _, s := range worst() {
		began := time.Now()
		r := Default().Read("", s)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%.30q took %s: %s", s, took, r.Reason)
		} else if testing.Verbose() {
			t.Logf("%.30q %s %d checks", s, took, len(r.Checks))
		}
	}
}
