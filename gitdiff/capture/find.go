package capture

import (
	"fmt"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"

	"golang.org/x/sys/unix"
)

// find keeps a finding.
func (c *capturer) find(code gitdiff.Code, path, detail string) {
	c.keep(gitdiff.Finding{Code: code, Path: path, Detail: detail, Grade: code.Grade()})
}

// leftOut keeps a finding about a name that is not in the tree because of what it is called.
func (c *capturer) leftOut(path, detail string) {
	c.keep(gitdiff.Finding{Code: gitdiff.DangerousPath, Path: path, Detail: detail + "; left out", Grade: gitdiff.Flaw})
}

// keep keeps a finding, up to the budget. The first ones of a code are kept beyond it, so that a flood of one kind cannot
// hide another.
func (c *capturer) keep(f gitdiff.Finding) {
	if c.kinds == nil {
		c.kinds = map[gitdiff.Code]gitdiff.Grade{}
	}
	worst, known := c.kinds[f.Code]
	if len(c.snap.Findings) >= c.Budget.Findings && known && worst >= f.Grade {
		c.snap.Dropped++
		return
	}
	c.kinds[f.Code] = max(worst, f.Grade)
	c.snap.Findings = append(c.snap.Findings, f)
}

// maxIgnoredNamed bounds the ignored entries named one by one, so that they do not use up the findings that matter.
const maxIgnoredNamed = 50

// ignored counts an entry the base's rules keep out of the tree and names the first ones.
func (c *capturer) ignored(path string) {
	if c.snap.Ignored++; c.snap.Ignored <= maxIgnoredNamed {
		c.find(gitdiff.HiddenByIgnore, path, "")
	}
}

// dotGit reports a name that some system treats as .git. The one at the root is the private repository of the box.
func (c *capturer) dotGit(d *directory, name, path string) {
	switch {
	case name == ".git" && d.path == "":
	case name == ".git":
		c.find(gitdiff.NestedRepository, d.path, "its files were taken, its .git was not")
	default:
		c.leftOut(path, "taken for .git by some systems")
	}
}

// tooDeep reports a place beyond the depth or length that a capture goes to.
func (c *capturer) tooDeep(at place) {
	c.find(gitdiff.PathTooDeep, at.path, fmt.Sprintf("%d levels, %d bytes", strings.Count(at.path, "/"), len(at.path)))
}

// unusual reports a new name that misleads readers or programs.
func (c *capturer) unusual(at place) {
	if reason := gitname.Unusual(at.name); reason != "" && !at.had {
		c.keep(gitdiff.Finding{Code: gitdiff.DangerousPath, Path: at.path, Detail: reason, Class: gitdiff.UnusualName})
	}
}

// maxModesNamed bounds the files named for their modes: a careless umask gives them to every file.
const maxModesNamed = 10

// modeDropped reports permission bits that a git tree cannot record.
func (c *capturer) modeDropped(at place) {
	var bits []string
	for _, b := range []struct {
		bit  uint32
		name string
	}{{unix.S_ISUID, "setuid"}, {unix.S_ISGID, "setgid"}, {unix.S_ISVTX, "sticky"}, {unix.S_IWOTH, "world-writable"}} {
		if at.st.Mode&b.bit != 0 {
			bits = append(bits, b.name)
		}
	}
	if len(bits) == 0 {
		return
	}
	if c.modes++; c.modes <= maxModesNamed {
		c.find(gitdiff.ModeDropped, at.path, strings.Join(bits, ", ")+"; the file was taken without")
	}
}
