package gitdiff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isDotGit reports whether git, HFS+ or NTFS takes a path component for ".git". The rules are those of is_hfs_dotgit and
// is_ntfs_dotgit in git's utf8.c and path.c: case is folded, code points HFS+ ignores are dropped, a stream name after a
// colon and trailing dots and spaces are dropped, "git~1" is the short name, a backslash separates components.
func isDotGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		switch plainName(part) {
		case ".git", "git~1":
			return true
		}
	}
	return false
}

// isDotGitmodules reports whether a component names the file that tells git where submodules come from. As a symbolic
// link git refuses it (fsck's gitmodulesSymlink), since it would be read through.
func isDotGitmodules(name string) bool {
	plain := plainName(name)
	return plain == ".gitmodules" || strings.HasPrefix(plain, "gitmod~") || strings.HasPrefix(plain, "gi7eba~")
}

// plainName is what is left of a component after everything some file system ignores in it.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if hfsIgnores(r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	return strings.ToLower(strings.TrimRight(name, " ."))
}

// hfsIgnores lists the code points of next_hfs_char in git's utf8.c.
func hfsIgnores(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}

// deviceNames are what Windows takes for a device, whatever extension follows.
var deviceNames = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// unusualName says in a few words why a component misleads a reader or cannot be checked out elsewhere; "" when it does not.
func unusualName(name string) string {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case !utf8.ValidString(name):
		return "not valid utf-8"
	case strings.ContainsFunc(name, misleads):
		return "control or direction characters"
	case strings.HasPrefix(name, "-"):
		return "reads as an option"
	case strings.HasPrefix(name, " ") || strings.TrimRight(name, " .") != name:
		return "leading space, or trailing space or dot"
	case strings.ContainsAny(name, `<>:"|?*\`):
		return "characters windows refuses"
	case deviceNames[strings.TrimRight(stem, " ")]:
		return "a windows device name"
	}
	return ""
}

// misleads reports whether a rune moves the cursor, hides itself or turns the direction of text around.
func misleads(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
