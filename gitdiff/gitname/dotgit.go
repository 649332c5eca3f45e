// Package gitname judges the names of files: which ones some file system takes for .git or for one another, and which ones
// mislead a reader. It makes text from a box fit to be shown.
package gitname

import (
	"strings"
)

// IsDotGit reports whether git, HFS+ or NTFS takes a path component for ".git". The rules are those of is_hfs_dotgit and
// is_ntfs_dotgit in git's utf8.c and path.c: case is folded, code points HFS+ ignores are dropped, a stream name after a
// colon and trailing dots and spaces are dropped, "git~1" is the short name, a backslash separates components.
func IsDotGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		switch Plain(part) {
		case ".git", "git~1":
			return true
		}
	}
	return false
}

// IsDotGitmodules reports whether a component names the file that tells git where submodules come from. As a symbolic
// link git refuses it (fsck's gitmodulesSymlink), since it would be read through.
func IsDotGitmodules(name string) bool {
	plain := Plain(name)
	return plain == ".gitmodules" || strings.HasPrefix(plain, "gitmod~") || strings.HasPrefix(plain, "gi7eba~")
}

// IsDotGitattributes reports whether a component names the file git reads attributes from.
func IsDotGitattributes(name string) bool {
	plain := Plain(name)
	return plain == ".gitattributes" || strings.HasPrefix(plain, "gitatt~") || strings.HasPrefix(plain, "gi7d29~")
}

// Plain is what is left of a component after everything some file system ignores in it.
func Plain(name string) string {
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
