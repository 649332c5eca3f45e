package gitdiff

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// collisions reports new names that fall together with another one where case, normal form, characters HFS+ ignores or
// what NTFS drops from a name do not count. Of a link and a directory that do, one is written through the other.
func (c *capturer) collisions(d *directory, entries []object.TreeEntry) {
	isNew := func(e object.TreeEntry) bool {
		was, had := d.base[e.Name]
		return !had || was.Mode&^0o7777 != e.Mode&^0o7777
	}
	if !slices.ContainsFunc(entries, isNew) {
		return
	}
	seen := make(map[string]object.TreeEntry, len(entries))
	meet := func(e, other object.TreeEntry) {
		if !isNew(e) {
			e, other = other, e
		}
		if isNew(e) {
			c.find(CaseCollision, d.join(e.Name), entryKind(e)+" beside the "+entryKind(other)+" "+clip(other.Name, 200))
		}
	}
	for _, e := range entries {
		key := foldName(e.Name)
		if other, double := seen[key]; double {
			meet(e, other)
		} else {
			seen[key] = e
		}
	}
	for _, e := range entries {
		if !shortName.MatchString(e.Name) {
			continue
		}
		for _, other := range entries {
			if other.Name != e.Name && isShortFor(e.Name, other.Name) {
				meet(e, other)
				break
			}
		}
	}
}

func entryKind(e object.TreeEntry) string {
	switch e.Mode {
	case filemode.Dir:
		return "directory"
	case filemode.Symlink:
		return "link"
	case filemode.Submodule:
		return "submodule"
	}
	return "file"
}

// foldName is what is left of a name on file systems without case, with one normal form, and with what HFS+ and NTFS
// take for nothing. A name that is nothing else stays as it is.
func foldName(name string) string {
	if !utf8.ValidString(name) {
		return name // different bytes are different names, or none
	}
	folded := plainName(name)
	for i := range len(folded) {
		if folded[i] >= 0x80 {
			folded = norm.NFC.String(cases.Fold().String(norm.NFC.String(folded)))
			break
		}
	}
	if folded == "" {
		return name
	}
	return folded
}

// shortName is the form of the names that NTFS makes up for programs that know eight characters and three.
var shortName = regexp.MustCompile(`^[^.~]{1,6}~[0-9](\.[^.]{0,3})?$`)

// isShortFor reports whether short could be the made-up name of a longer one.
func isShortFor(short, long string) bool {
	stem, extension, _ := strings.Cut(strings.ToLower(short), ".")
	stem = stem[:strings.LastIndexByte(stem, '~')]
	long = strings.ToLower(long)
	name, end := long, ""
	if i := strings.LastIndexByte(long, '.'); i > 0 {
		name, end = long[:i], long[i+1:]
	}
	if len(name) <= 8 && len(end) <= 3 && !strings.ContainsAny(name, ". +,;=[]") {
		return false // it needs no other name
	}
	name = strings.NewReplacer(" ", "", ".", "").Replace(name)
	return strings.HasPrefix(name, stem) && (len(stem) == 6 || len(stem) == len(name)) && strings.HasPrefix(end, extension) &&
		(len(extension) == 3 || len(extension) == len(end))
}
