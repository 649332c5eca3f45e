package gitdiff

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/gitname"
)

// Person is the author or the committer of a commit.
type Person struct{ Name, Email string }

// Runner is the person of commits that nobody else made: this program.
var Runner = Person{AuthorName, AuthorEmail}

// maxPerson bounds name and address, in runes each.
const maxPerson = 200

var personForm = regexp.MustCompile(`^\s*([^<>]*[^<>\s])\s*<\s*([^<>\s]+)\s*>\s*$`)

// ParsePerson reads "Name <address>", as git writes people; ok is false for anything else, and for characters that would
// show another person than git records.
func ParsePerson(text string) (p Person, ok bool) {
	m := personForm.FindStringSubmatch(text)
	if m == nil || strings.ContainsFunc(text, gitname.Misleads) || len(text) > maxPerson {
		return p, false
	}
	return Person{m[1], m[2]}, true
}

// User is whom git would take for the author of a commit in r: the person of GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL, else of
// user.name and user.email in the repository's configuration, else in the user's own. Files that these include are not
// read. It is [Runner] where a name or an address is missing, or is none.
func (r *Repo) User(getenv func(string) string) Person {
	p := Person{getenv("GIT_AUTHOR_NAME"), getenv("GIT_AUTHOR_EMAIL")}
	for _, path := range userConfigs(r, getenv) {
		if p.Name != "" && p.Email != "" {
			break
		}
		text, err := gitfile.Read(path, MaxConfig)
		if err != nil {
			continue // missing or unreadable: the next one applies
		}
		cfg := config.New()
		if config.NewDecoder(bytes.NewReader(text)).Decode(cfg) != nil {
			continue
		}
		user := cfg.Section("user")
		if p.Name == "" {
			p.Name = user.Option("name")
		}
		if p.Email == "" {
			p.Email = user.Option("email")
		}
	}
	if valid, ok := ParsePerson(p.Name + " <" + p.Email + ">"); ok {
		return valid
	}
	return Runner
}

// userConfigs are the files with a person's settings, the strongest first.
func userConfigs(r *Repo, getenv func(string) string) []string {
	files := []string{filepath.Join(r.CommonDir(), "config")}
	if global := getenv("GIT_CONFIG_GLOBAL"); global != "" {
		return append(files, global)
	}
	home, dir := getenv("HOME"), getenv("XDG_CONFIG_HOME")
	if filepath.IsAbs(home) {
		files = append(files, filepath.Join(home, ".gitconfig"))
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, ".config")
		}
	}
	if filepath.IsAbs(dir) {
		files = append(files, filepath.Join(dir, "git", "config"))
	}
	if getenv("GIT_CONFIG_NOSYSTEM") == "" {
		files = append(files, string(os.PathSeparator)+filepath.Join("etc", "gitconfig"))
	}
	return files
}
