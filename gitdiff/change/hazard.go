package change

import (
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
)

// Hazard is one class of paths that programs obey on the machines of people who check a tree out, or on the machines of a
// service it is pushed to. A checkout alone runs none of them; the next push, build, or start of an editor or an agent does.
type Hazard struct {
	Class   string        // stable name, for policies and results
	Why     string        // which program acts on such a path and when, for people
	Grade   gitdiff.Grade // what a path of the class means for the change
	Obeyers []Obeyer
}

// Obeyer is a program, or a family of programs, and the paths it obeys.
type Obeyer struct {
	Program string
	Source  string // where its makers document that, an address without the scheme
	// Paths: "name" is a file of that name anywhere, "name/" everything in a directory of that name anywhere, "/a/b" the
	// same from the root of the tree, "*.x" every file with that ending, and "name.*" every file whose name begins with
	// "name.". Letters of any case, and other spellings that some file system takes for the same, count.
	Paths []string
}

// Paths lists the paths of all programs of the class.
func (h *Hazard) Paths() []string {
	var all []string
	for _, o := range h.Obeyers {
		all = append(all, o.Paths...)
	}
	return all
}

// Hazards is the table of classes; HAZARDS.md is its form for people. A path belongs to the first class that lists it.
var Hazards = append(runsElsewhere, runsWhenBuilt...)

// Classes that are found in the content or the kind of an entry.
const (
	classModules    = "submodules"
	classNewModule  = "submodule_link"   // a commit of another repository
	classModuleTrap = "submodule_attack" // a .gitmodules that attacks whoever runs git on it
	classRefused    = "refused_by_git"   // a file git would not read
	classAttributes = "attributes"       // a .gitattributes that does more than line ends
	classScripts    = "package_scripts"  // a package.json with other scripts
)

// hazardIndex is the table, by what a component of a path is looked up with.
var hazardIndex = func() (x struct {
	files, dirs, ends, stems map[string]*Hazard
	rooted                   []rootedHazard
}) {
	x.files, x.dirs, x.ends, x.stems = map[string]*Hazard{}, map[string]*Hazard{}, map[string]*Hazard{}, map[string]*Hazard{}
	for i := range Hazards {
		h := &Hazards[i]
		for _, p := range h.Paths() {
			into, name := x.files, p
			switch {
			case strings.HasPrefix(p, "/"):
				x.rooted = append(x.rooted, rootedHazard{gitname.Fold(strings.Trim(p, "/")), strings.HasSuffix(p, "/"), h})
				continue
			case strings.HasPrefix(p, "*."):
				into, name = x.ends, strings.TrimPrefix(p, "*")
			case strings.HasSuffix(p, ".*"):
				into, name = x.stems, strings.TrimSuffix(p, ".*")
			case strings.HasSuffix(p, "/"):
				into, name = x.dirs, strings.TrimSuffix(p, "/")
			}
			if name = gitname.Fold(name); into[name] == nil {
				into[name] = h
			}
		}
	}
	return x
}()

type rootedHazard struct {
	path   string
	within bool
	*Hazard
}

// hazardOf is the class a path belongs to, nil for none. A link in the place of a directory counts as it.
func hazardOf(path string) *Hazard {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = gitname.Fold(parts[i])
	}
	last := parts[len(parts)-1]
	if h := hazardIndex.files[last]; h != nil {
		return h
	}
	for _, part := range parts {
		if h := hazardIndex.dirs[part]; h != nil {
			return h
		}
	}
	whole := strings.Join(parts, "/")
	for _, r := range hazardIndex.rooted {
		if whole == r.path || r.within && strings.HasPrefix(whole, r.path+"/") {
			return r.Hazard
		}
	}
	for i := range len(last) {
		if last[i] != '.' {
			continue
		}
		if h := hazardIndex.ends[last[i:]]; h != nil {
			return h
		}
		if h := hazardIndex.stems[last[:i]]; h != nil {
			return h
		}
	}
	return nil
}
