package gitname

import (
	"strings"
	"testing"
)

func TestIsDotGit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".git", ".GIT", ".Git", ".git.", ".git ", ".git . .", "git~1", "GIT~1", ".git:x", ".git::$INDEX_ALLOCATION", `a\.git`, `.git\a`,
		".g\u200cit", ".git\ufeff", "\u200e.git", "\u206a.GI\u202eT", "git~1.", ".git\u200d ",
	} {
		if !IsDotGit(name) {
			t.Errorf("%q passes", name)
		}
	}
	for _, name := range []string{"git", ".gitignore", ".github", "git~2", "x.git", ".git-x", "..git", ".gi", "", ".", "..", ". git", "a:.git", ".git\u0301"} {
		if IsDotGit(name) {
			t.Errorf("%q is refused", name)
		}
	}
}

func TestIsDotGitmodules(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".gitmodules": true, ".gitmodules::$DATA": true, ".gitmodule": false, "gitmodules": false, "gitmod~1": true, "GI7EBA~3": true,
		".GitModules ": true, //nolint:gocritic // NTFS drops the space
	} {
		if IsDotGitmodules(name) != want {
			t.Errorf("isDotGitmodules(%q) = %v", name, !want)
		}
	}
}

func TestUnusualName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a\nb", "\x1b[31m", "-rf", " a", "a ", "a.", "CON", "aux.txt", "com1", "a:b", `a\b`, `a"b`, "a\u202eb", "\xff"} {
		if Unusual(name) == "" {
			t.Errorf("%q is usual", name)
		}
	}
	for _, name := range []string{"a", "a b", ".hidden", "..x", "config", "console", "com10", "naïve", "日本", "a-b", "a~", strings.Repeat("x", 255)} {
		if why := Unusual(name); why != "" {
			t.Errorf("%q: %s", name, why)
		}
	}
}

func TestShortNamesHaveTheKeyOfWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		short, long string
		want        bool
	}{
		{"GITMOD~1", ".gitmodules-extra", true}, {"ABCDEF~1.TXT", "abcdefghij.txt", true}, {"abcdef~2.tex", "ABCDEFGHIJ.text", true},
		{"ABCDEF~1.TXT", "abcdef.txt", false}, // that one needs no other name
		{"AB~1", "a b", true}, {"AB~1", "a bc", false}, {"A~1.JSO", "a.json", true}, {"A~1.JS", "a.json", false},
		{"ABCDE~1.TXT", "abcdefghij.txt", false}, {"ABCDEF~1", "abcdefghij.txt", false}, {"ABCDEF~10", "abcdefghij", false},
	} {
		short, isShort := ShortKey(tt.short)
		long, isLong := LongKey(tt.long)
		if got := isShort && isLong && short == long; got != tt.want {
			t.Errorf("%q for %q: %t (%q, %q)", tt.short, tt.long, got, short, long)
		}
	}
}
