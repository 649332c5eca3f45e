package change

import (
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Bounds of following links: a kernel gives up after 40 of them.
const (
	maxLinkHops  = 40
	maxLinkSteps = (maxLinkHops + 2) * gitdiff.MaxPath // what the texts of so many links can hold
	maxLinkTrees = 100_000                             // directories kept while links are followed
)

// linkReader follows symbolic links within a tree, without a file system.
type linkReader struct {
	diff  *Diff
	trees map[plumbing.Hash]map[string]object.TreeEntry
}

func newLinkReader(d *Diff) *linkReader {
	return &linkReader{diff: d, trees: map[plumbing.Hash]map[string]object.TreeEntry{}}
}

// level is one directory on the way.
type level struct {
	tree    plumbing.Hash
	unknown bool // nothing of the tree is there: whatever a work tree has at its place decides where ".." leads
}

// walk is one way through the tree.
type walk struct {
	at   []level  // directories from the root
	todo []string // components still to go
	hops int      // links followed
	way  string   // the same for people
}

// escape describes where the link at a path leads when that is outside of the tree; "" when it is inside. Names that only
// differ in case meet on some systems, so they are followed too. A link into nothing stays inside as long as it does not
// go up again from there.
func (l *linkReader) escape(path string) (string, error) {
	root, err := gitobj.ParseTree(l.diff.To)
	if err != nil {
		return "", err
	}
	w := &walk{at: []level{{tree: root}}, todo: strings.Split(path, "/")}
	for range maxLinkSteps {
		if len(w.todo) == 0 || w.hops > maxLinkHops {
			break // there, or a loop, which every system refuses to follow
		}
		part := w.todo[0]
		w.todo = w.todo[1:]
		out := ""
		switch {
		case part == "" || part == ".":
		case part == "..":
			out = w.up()
		case gitname.IsDotGit(part):
			out = "leads into .git"
		default:
			out, err = l.down(w, part)
		}
		if out != "" || err != nil {
			return w.way + " " + out, err
		}
	}
	return "", nil
}

const leadsOut = "leads out of the tree"

func (w *walk) up() (out string) {
	if len(w.at) == 1 || w.at[len(w.at)-1].unknown {
		return leadsOut
	}
	w.at = w.at[:len(w.at)-1]
	return ""
}

// down goes to a name: into a directory, or wherever a link leads.
func (l *linkReader) down(w *walk, part string) (out string, err error) {
	e, ok, err := l.lookup(w.at[len(w.at)-1], part)
	if err != nil {
		return "", err
	}
	if !ok || e.Mode != filemode.Symlink {
		next := level{unknown: !ok || e.Mode != filemode.Dir}
		if !next.unknown {
			next.tree = e.Hash
		}
		w.at = append(w.at, next)
		return "", nil
	}
	text, err := gitobj.Content(l.diff.storer, plumbing.BlobObject, e.Hash, gitdiff.MaxPath)
	if err != nil {
		return "", err
	}
	target := string(text)
	if w.hops++; w.hops == 1 {
		w.way = "-> " + gitname.Clip(target, 200)
	} else {
		w.way = gitname.Clip(w.way+", by way of "+part+" -> "+target, 600)
	}
	if strings.HasPrefix(target, "/") || strings.HasPrefix(target, `\`) || len(target) > 1 && target[1] == ':' {
		return leadsOut, nil
	}
	w.todo = append(strings.Split(target, "/"), w.todo...)
	return "", nil
}

// lookup finds a name in a directory, in its exact spelling or else in another one.
func (l *linkReader) lookup(in level, name string) (object.TreeEntry, bool, error) {
	if in.unknown {
		return object.TreeEntry{}, false, nil
	}
	entries, known := l.trees[in.tree]
	if !known {
		var err error
		if entries, err = gitobj.EntriesByName(l.diff.storer, in.tree); err != nil {
			return object.TreeEntry{}, false, err
		}
		for known, e := range entries {
			if !strings.Contains(known, "/") {
				entries["/"+gitname.Fold(known)] = e // no name has a slash
			}
		}
		if len(l.trees) < maxLinkTrees {
			l.trees[in.tree] = entries
		}
	}
	if e, ok := entries[name]; ok {
		return e, true, nil
	}
	e, ok := entries["/"+gitname.Fold(name)]
	return e, ok, nil
}

// Escapes names the changes whose new side is a symbolic link that leads out of the tree or into .git.
func (d *Diff) Escapes(links []Change) (names []string, err error) {
	reader := newLinkReader(d)
	for i := range links {
		if links[i].new.mode != filemode.Symlink {
			continue
		}
		escape, err := reader.escape(links[i].Name)
		if err != nil {
			return nil, err
		}
		if escape != "" {
			names = append(names, links[i].Name)
		}
	}
	return names, nil
}
