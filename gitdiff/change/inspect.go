package change

import (
	"context"
	"fmt"
	"path"
	"slices"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// maxInspected bounds the findings of one inspection; the first of each kind are kept beyond it.
const maxInspected = 180

// Inspection is what a change does to those who check it out.
type Inspection struct {
	Findings []gitdiff.Finding // the gravest first, otherwise in the order of the changes
	Dropped  int               // findings beyond those
}

// Inspect examines what a diff adds: paths that programs obey, links that lead out, submodules, text that reads other
// than it runs, files above maxFile bytes. Deleted paths bring nothing. What the trees cannot hold is reported by
// the capture already.
func (d *Diff) Inspect(ctx context.Context, maxFile int64) (*Inspection, error) {
	in := &inspector{diff: d, links: newLinkReader(d), maxFile: maxFile, kinds: map[string]gitdiff.Grade{}, out: &Inspection{}}
	for i := range d.Changes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if c := &d.Changes[i]; c.new.exists() {
			if err := in.change(c); err != nil {
				return nil, fmt.Errorf("inspect %q: %w", c.Name, err)
			}
		}
	}
	slices.SortStableFunc(in.out.Findings, func(a, b gitdiff.Finding) int { return int(b.Grade - a.Grade) })
	return in.out, nil
}

// inspector collects the findings of one diff.
type inspector struct {
	diff    *Diff
	links   *linkReader
	maxFile int64
	kinds   map[string]gitdiff.Grade // codes and classes found, and the gravest grade of each
	out     *Inspection
}

// keep keeps a finding, up to the bound.
func (in *inspector) keep(f gitdiff.Finding) {
	kind := string(f.Code) + " " + f.Class
	worst, known := in.kinds[kind]
	if len(in.out.Findings) >= maxInspected && known && worst >= f.Grade {
		in.out.Dropped++
		return
	}
	in.kinds[kind] = max(worst, f.Grade)
	in.out.Findings = append(in.out.Findings, f)
}

// change inspects one path of the new tree.
func (in *inspector) change(c *Change) error {
	if h := hazardOf(c.Name); h != nil {
		in.hazard(c, h.Class, h.Why, h.Grade)
	}
	for _, f := range c.unseen {
		f.Path, f.Grade = c.Name, f.Code.Grade()
		in.keep(f)
	}
	switch {
	case c.new.mode == filemode.Submodule:
		if c.old.mode != filemode.Submodule || c.old.id != c.new.id {
			in.hazard(c, classNewModule, "names a commit of another repository", gitdiff.Note)
		}
		return nil
	case c.new.mode == filemode.Symlink:
		escape, err := in.links.escape(c.Name)
		if err == nil && escape != "" {
			in.keep(gitdiff.Finding{Code: gitdiff.SymlinkEscapes, Path: c.Name, Detail: escape, Grade: gitdiff.Refuse})
		}
		return err
	}
	if err := in.size(c); err != nil || c.old.id == c.new.id {
		return err
	}
	return in.content(c)
}

func (in *inspector) hazard(c *Change, class, why string, g gitdiff.Grade) {
	in.keep(gitdiff.Finding{Code: gitdiff.DangerousPath, Path: c.Name, Class: class, Detail: class + ": " + why, Grade: g})
}

func (in *inspector) size(c *Change) error {
	if in.maxFile <= 0 || c.old.id == c.new.id {
		return nil
	}
	size, err := in.diff.storer.EncodedObjectSize(c.new.id)
	if err != nil {
		return gitobj.ReadError(c.new.id, err)
	}
	if size > in.maxFile {
		in.keep(gitdiff.Finding{Code: gitdiff.OversizeFile, Path: c.Name, Detail: fmt.Sprintf("%d bytes, more than %d", size, in.maxFile), Grade: gitdiff.Note})
	}
	return nil
}

// content inspects files that git and package managers read.
func (in *inspector) content(c *Change) error {
	var judge func(was, now string) []gitdiff.Finding
	switch base := gitname.Fold(path.Base(c.Name)); {
	case gitname.IsDotGitmodules(base):
		judge = JudgeModules
	case gitname.IsDotGitattributes(base):
		judge = JudgeAttributes
	case base == "package.json":
		judge = judgeScripts
	default:
		return nil
	}
	was, _, err := in.diff.text(c.old)
	if err != nil {
		return err
	}
	now, ok, err := in.diff.text(c.new)
	if err != nil {
		return err
	}
	if !ok {
		grade := gitdiff.Refuse
		if gitname.Fold(path.Base(c.Name)) == "package.json" {
			grade = gitdiff.Note
		}
		in.hazard(c, classRefused, "too large to be read", grade)
		return nil
	}
	for _, f := range judge(string(was), string(now)) {
		f.Path, f.Code = c.Name, gitdiff.DangerousPath
		f.Detail = f.Class + ": " + f.Detail
		in.keep(f)
	}
	return nil
}
