package change

import (
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxAbove bounds the directories above a file that are looked at for one that was moved.
const maxAbove = 8

// directoryRenames pairs the files of directories that were moved whole, and returns the rest. Contents that are there only once say
// which directory became which; then files that many others equal, empty ones too, are paired with those of the same directory.
func directoryRenames(gone, come []*Change) (goneLeft, comeLeft []*Change) {
	was := map[string]string{} // the former path of a directory
	before := onlyOnes(gone, func(c *Change) plumbing.Hash { return c.old.id })
	for id, c := range onlyOnes(come, func(c *Change) plumbing.Hash { return c.new.id }) {
		if from := before[id]; from != nil && path.Base(from.Name) == path.Base(c.Name) {
			learn(was, path.Dir(from.Name), path.Dir(c.Name))
		}
	}
	if len(was) == 0 {
		return gone, come
	}
	at := make(map[string]*Change, len(gone))
	for _, c := range gone {
		at[c.Name] = c
	}
	used := map[*Change]bool{}
	for _, c := range come {
		from := at[former(was, c.Name)]
		if from != nil && !used[from] && from.old.id == c.new.id && from.old.kind() == c.new.kind() {
			c.renamedFrom(from.Name)
			used[c], used[from] = true, true
		}
	}
	return unused(gone, used), unused(come, used)
}

// onlyOnes are the changes whose content no other one has. The empty content says nothing about where a file came from.
func onlyOnes(all []*Change, id func(*Change) plumbing.Hash) map[plumbing.Hash]*Change {
	ones := make(map[plumbing.Hash]*Change, len(all))
	for _, c := range all {
		if _, double := ones[id(c)]; double {
			ones[id(c)] = nil
		} else {
			ones[id(c)] = c
		}
	}
	delete(ones, emptyBlob)
	for id, c := range ones {
		if c == nil {
			delete(ones, id)
		}
	}
	return ones
}

// learn notes that a directory became another one, and that those above did as long as their names agree. Where two directories
// became one, the one that sorts first counts, whatever the order.
func learn(was map[string]string, from, to string) {
	for range maxAbove {
		if from == to {
			return
		}
		if known, ok := was[to]; !ok || from < known {
			was[to] = from
		}
		if path.Base(from) != path.Base(to) {
			return
		}
		from, to = path.Dir(from), path.Dir(to)
	}
}

// former is the path that a file had where the nearest directory above it that was moved came from; "" for none.
func former(was map[string]string, name string) string {
	dir := path.Dir(name)
	for range maxAbove {
		if from, ok := was[dir]; ok {
			return path.Join(from, strings.TrimPrefix(name, dir+"/"))
		}
		if dir == "." {
			break
		}
		dir = path.Dir(dir)
	}
	return ""
}
