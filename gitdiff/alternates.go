package gitdiff

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sandboxrun/gitdiff/gitfile"
)

const (
	maxAlternates     = 1 << 20 // bytes of an objects/info/alternates file
	maxAlternateDepth = 5       // git's own limit of alternates that name alternates
)

// objectDirs lists an object directory and all those it borrows from, each once, nearest first. A borrowed directory
// that is not there is passed over, as git does: what it held is missed by name when it is wanted.
func objectDirs(objects string) ([]string, error) {
	l := objectDirList{seen: map[string]bool{}}
	if err := l.add(objects, 0); err != nil {
		return nil, err
	}
	return l.dirs, nil
}

// objectDirList is what objectDirs has found.
type objectDirList struct {
	dirs []string
	seen map[string]bool
}

func (l *objectDirList) add(dir string, depth int) error {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		if depth > 0 {
			return nil
		}
		return err
	}
	if info, err := os.Stat(resolved); err != nil || !info.IsDir() || l.seen[resolved] {
		return err
	}
	l.seen[resolved] = true
	l.dirs = append(l.dirs, resolved)
	if depth == maxAlternateDepth {
		return nil
	}
	borrowed, err := alternates(resolved)
	if err != nil {
		return err
	}
	for _, path := range borrowed {
		if err := l.add(path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// alternates lists the directories that one object directory names in its alternates file.
func alternates(objects string) ([]string, error) {
	text, err := gitfile.ReadIn(objects, "info/alternates", maxAlternates)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(string(text)) {
		path := alternatePath(strings.TrimSuffix(line, "\n"))
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(objects, path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// alternatePath is the path of one line of an alternates file; empty for comments and blanks. Paths with odd characters
// are in C quotes, of which Go's are a superset for what git writes. See link_alt_odb_entries in git's object-file.c.
func alternatePath(line string) string {
	if strings.HasPrefix(line, "#") {
		return ""
	}
	if strings.HasPrefix(line, `"`) {
		if unquoted, err := strconv.Unquote(line); err == nil {
			return unquoted
		}
	}
	return line
}
