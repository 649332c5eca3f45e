package runner

import (
	"context"
	"fmt"
	"strings"

	"sandboxrun/gitdiff"
)

// dirtLook is a look at the user's uncommitted changes under way. It reads the
// whole working tree, so it goes on beside the work instead of before it.
type dirtLook struct {
	cancel context.CancelFunc
	done   chan struct{}
	dirt   gitdiff.Dirt
	err    error
}

// startDirt takes the user's uncommitted changes along, or begins to look
// whether there are any that the run does not see.
func (x *run) startDirt(ctx context.Context) error {
	if x.plan.IncludeDirty {
		base, err := x.objects.DirtyCommit(ctx, x.repo, x.base)
		if err != nil {
			return fmt.Errorf("include uncommitted changes: %w", err)
		}
		x.base = base
		return nil
	}
	lctx, cancel := context.WithCancel(ctx)
	l := &dirtLook{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.dirt, l.err = x.repo.Dirty(lctx)
	}()
	x.dirt = l
	return nil
}

// endDirt waits for the look and tells what it saw. A run that was stopped does
// not wait for it.
func (x *run) endDirt() {
	l := x.dirt
	if l == nil {
		return
	}
	if x.findings.halted() {
		l.cancel()
	}
	<-l.done
	l.cancel()
	text := dirtText(l.dirt)
	if l.err != nil {
		text = "it could not be looked at: " + l.err.Error()
	}
	if text == "" || l.err != nil && x.findings.halted() {
		return
	}
	x.findings.add(note, Issue{Type: IssueConflict, Code: CodeDirtyTree,
		Description:     "uncommitted changes are not part of this run: " + text,
		SuggestedAction: x.dirtAdvice()})
}

func (x *run) dirtAdvice() string {
	if x.session != nil && len(x.session.doc.Runs) > 0 {
		return "commit them; a session goes on from its own files"
	}
	return "commit them, or set context.include_dirty"
}

// dirtText says in words what differs, "" when nothing does.
func dirtText(d gitdiff.Dirt) string {
	if d.Unknown != "" {
		return "it cannot be told whether there are any: " + d.Unknown
	}
	if d.Clean() {
		return ""
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{d.Staged, "staged"}, {d.Modified, "modified"}, {d.Deleted, "deleted"}, {d.Untracked, "untracked"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, ", ")+" ("+strings.Join(d.Names, ", ")+")", "\ufffd")
}
