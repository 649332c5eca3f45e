package dirty

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/ignore"

	"github.com/go-git/go-git/v5/plumbing/format/config"
	"golang.org/x/sys/unix"
)

// userIgnores are the rules above those of the work tree itself, the weakest first: the user's own (core.excludesFile, or
// git/ignore in the configuration directory) and the repository's info/exclude. They can only keep files out: what a
// person hides everywhere, such as .env files, does not reach a box.
func userIgnores(r *gitdiff.Repo) (*ignore.Rules, error) {
	rules := ignore.New()
	for _, path := range []string{excludesFile(r), filepath.Join(r.CommonDir(), "info", "exclude")} {
		if path == "" {
			continue
		}
		text, err := gitfile.Read(path, ignore.MaxBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rules = rules.Parse(string(text), nil)
	}
	return rules, nil
}

// excludesFile is the file of the user's own rules; empty when there is no such place.
func excludesFile(r *gitdiff.Repo) string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		dir = ""
	}
	for _, path := range []string{filepath.Join(r.CommonDir(), "config"), filepath.Join(home, ".gitconfig"), filepath.Join(dir, "git", "config")} {
		text, err := gitfile.Read(path, gitdiff.MaxConfig)
		if err != nil {
			continue // missing or unreadable: git's default applies
		}
		cfg := config.New()
		if config.NewDecoder(bytes.NewReader(text)).Decode(cfg) != nil {
			continue
		}
		if file := cfg.Section("core").Option("excludesFile"); file != "" {
			if rest, ok := strings.CutPrefix(file, "~/"); ok {
				file = filepath.Join(home, rest)
			}
			return file
		}
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "git", "ignore")
}

// ignoreFileOf adds the rules of the .gitignore in an open directory of a user's work tree. What is no ordinary file has none.
func ignoreFileOf(r *ignore.Rules, dir int, prefix string) (*ignore.Rules, error) {
	fd, err := unix.Openat(dir, ignore.File, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENXIO) {
		return r, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: prefix + ignore.File, Err: err}
	}
	f := os.NewFile(uintptr(fd), ignore.File)
	defer f.Close()
	text, err := gitfile.ReadOpen(f, ignore.MaxBytes)
	if err != nil {
		return nil, err
	}
	var domain []string
	if prefix != "" {
		domain = strings.Split(strings.TrimSuffix(prefix, "/"), "/")
	}
	return r.Parse(string(text), domain), nil
}
