package attack

import (
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"sandboxrun/runner/document"
)

// Scene is the state after an attack: what a user would see and have afterwards, measured the same way for the program
// and for the naive counterpart.
type Scene struct {
	Where
	ID string

	Result document.Result // the document; the naive counterpart trusts the box's output
	// Refused is the message of an error document instead of a result: nothing was run.
	Refused string
	Exit    int          // exit code of the program; 0 of the naive counterpart unless its commands failed
	Stdout  []byte       // of the program: the document as it was printed
	Stderr  []byte       // of the program, or git's messages on the naive host
	Output  string       // the output of this attack's script, both streams, at most 1 MiB each
	After   []Invocation // the invocations of Attack.After

	Base     map[string]File   // the base commit's tree by path
	Landed   map[string]File   // the landed tree; nil without one
	Branches map[string]string // branches below sandboxrun/ and the commits they are at
	Fsck     string            // objections of "git fsck --strict" to the landed commit
	Commit   string            // the landed commit object as git prints it, "" when nothing landed
	Patch    string            // the change as a patch, "" when there is none

	Host   *Host
	Before map[string]string // the user's repository before, by path: mode, time and digest; without objects and our branches
	Then   map[string]string // and after
	// Capable are the files of the user's repository that have file capabilities.
	Capable map[string]bool
	Hits    []string // request lines that reached the host's listener, and "tcp" for connections without one

	Took time.Duration
	Hung bool // did not end within the lab's bound and was killed

	BaseCommit string   // id of the base
	alters     bool     // see Attack
	Faults     []string // invariants that do not hold
}

// Invocation is one finished run of the program.
type Invocation struct {
	Args           []string
	Exit           int
	Stdout, Stderr []byte
}

// File is one entry of a tree.
type File struct {
	Mode    string // six octal digits, as git writes them
	ID      string // object id
	Content string // of files and links, at most 1 MiB
}

// Own is a path in the attack's own directory, relative to the root of the tree.
func (s Scene) Own(elem ...string) string {
	return path.Join(append([]string{strings.ToLower(s.ID)}, elem...)...)
}

// Pwned reports which canaries the host wrote.
func (s Scene) Pwned() string {
	entries, err := os.ReadDir(s.Host.Canary)
	if err != nil {
		return "the canary directory is gone: " + err.Error()
	}
	var names []string
	for _, e := range entries {
		if e.Name() == s.ID || strings.HasPrefix(e.Name(), s.ID+".") { // a batch shares the directory
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "a program of the box ran on the host: " + strings.Join(names, " ")
}

// Changed is the change type of a path in the result; "" when the result does not name it.
func (s Scene) Changed(p string) string {
	for _, f := range s.Result.FilesChanged {
		if f.Path == p {
			return f.ChangeType
		}
	}
	return ""
}

// Has reports whether the result has an issue of a code, at a path unless that is "".
func (s Scene) Has(code, p string) bool {
	for _, i := range s.Result.Issues {
		if i.Code == code && (p == "" || i.Path == p) {
			return true
		}
	}
	return false
}

// Altered lists the changed paths of the user's repository.
func (s Scene) Altered() []string {
	var out []string
	for p, was := range s.Before {
		if is, ok := s.Then[p]; !ok {
			out = append(out, "gone: "+p)
		} else if is != was {
			out = append(out, "changed: "+p)
		}
	}
	for p := range s.Then {
		if _, ok := s.Before[p]; !ok {
			out = append(out, "new: "+p)
		}
	}
	slices.Sort(out)
	return out
}

// Leaked reports where the host's secret was found; "" when nowhere.
func (s Scene) Leaked() string {
	for where, text := range map[string]string{
		"the result": string(s.Stdout), "the messages": string(s.Stderr), "the patch": s.Patch, "the box's output": s.Output,
	} {
		if strings.Contains(text, Secret) {
			return "the host's secret is in " + where
		}
	}
	for p, f := range s.Landed {
		if strings.Contains(f.Content, Secret) {
			return "the host's secret is in the landed file " + p
		}
	}
	return ""
}

// Reached lists the requests of this attack that the host's listener saw: those whose line names its ID.
func (s Scene) Reached() []string {
	var out []string
	for _, h := range s.Hits {
		if strings.Contains(h, s.ID) {
			out = append(out, h)
		}
	}
	return out
}

// Where is the environment of an attack.
type Where struct {
	Runtime string // OCI runtime of the boxes, "" for the engine's default
	Naive   bool   // against the naive counterpart
}
