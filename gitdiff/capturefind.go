package gitdiff

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// find keeps a finding, up to the budget.
func (c *capturer) find(code Code, path, detail string) {
	if len(c.snap.Findings) >= c.budget.Findings {
		c.snap.Dropped++
		return
	}
	c.snap.Findings = append(c.snap.Findings, Finding{Code: code, Path: path, Detail: detail})
}

// maxIgnoredNamed bounds the ignored entries named one by one, so that they do not use up the findings that matter.
const maxIgnoredNamed = 50

// ignored counts an entry the base's rules keep out of the tree and names the first ones.
func (c *capturer) ignored(path string) {
	if c.snap.Ignored++; c.snap.Ignored <= maxIgnoredNamed {
		c.find(HiddenByIgnore, path, "")
	}
}

// dotGit reports a name some system takes for .git. The one at the root is the private repository of the box.
func (c *capturer) dotGit(d *directory, name, path string) {
	switch {
	case name == ".git" && d.path == "":
	case name == ".git":
		c.find(NestedRepository, d.path, "its files were taken, its .git was not")
	default:
		c.find(DangerousPath, path, "taken for .git by some systems; left out")
	}
}

// collisions reports new names that fall together with another one where case or normal form does not count.
func (c *capturer) collisions(d *directory, entries []object.TreeEntry) {
	isNew := func(name string) bool { _, had := d.base[name]; return !had }
	if !slices.ContainsFunc(entries, func(e object.TreeEntry) bool { return isNew(e.Name) }) {
		return
	}
	seen := make(map[string]string, len(entries))
	for _, e := range entries {
		key := foldName(e.Name)
		other, double := seen[key]
		seen[key] = e.Name
		switch {
		case !double:
		case isNew(e.Name):
			c.find(CaseCollision, d.join(e.Name), "beside "+clip(other, 200))
		case isNew(other):
			c.find(CaseCollision, d.join(other), "beside "+clip(e.Name, 200))
		}
	}
}

// foldName is what is left of a name on file systems without case and with one normal form.
func foldName(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return norm.NFC.String(cases.Fold().String(name))
		}
	}
	return strings.ToLower(name)
}
