package attack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sandboxrun/schemas/closed"
)

// inspect checks what must hold after every run, whatever the attack was, and returns the violations: the document
// keeps its schema, everything of the box is removed, the landed commit is sound, its parent is the base, the result
// names exactly the paths in which its tree differs, and the patch gives that tree.
func inspect(ctx context.Context, s *Scene) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if err := closed.Validate("result", s.Stdout); err != nil {
		fault("the result breaks its schema: %v", err)
	}
	if s.Result.Box != nil && !s.Result.Box.Cleanup.Complete {
		fault("left behind: %v", s.Result.Box.Cleanup.Left)
	}
	for _, dir := range []string{"work", "active"} {
		entries, _ := os.ReadDir(filepath.Join(s.Host.State, dir)) // a missing one is empty
		if len(entries) > 0 {
			fault("left in the state directory: %s/%s", dir, entries[0].Name())
		}
	}
	if strings.Contains(string(s.Stdout)+s.Patch, Key) {
		fault("the key is in the result")
	}
	if s.Result.Git.Commit != "" {
		inspectCommit(ctx, s, fault)
	}
	return faults
}

func inspectCommit(ctx context.Context, s *Scene, fault func(string, ...any)) {
	repo, g := s.Host.Repo, s.Result.Git
	must := func(args ...string) string {
		out, err := Git(ctx, repo, args...)
		if err != nil {
			fault("%v", err)
		}
		return strings.TrimSuffix(out, "\n")
	}
	if s.Fsck != "" {
		fault("%s", s.Fsck)
	}
	if got := must("rev-parse", g.Commit+"^{tree}"); got != g.Tree {
		fault("the commit holds tree %s, the result says %s", got, g.Tree)
	}
	if got := must("rev-list", "--parents", "-n", "1", g.Commit); got != g.Commit+" "+g.BaseCommit {
		fault("the commit and its parents are %s", got)
	}
	var want, got []string
	for p := range strings.SplitSeq(must("diff-tree", "-r", "-z", "--no-renames", "--name-only", g.BaseCommit, g.Tree), "\x00") {
		if p != "" {
			want = append(want, strings.ToValidUTF8(p, "\ufffd"))
		}
	}
	for _, f := range s.Result.FilesChanged {
		got = append(got, strings.ToValidUTF8(f.Path, "\ufffd"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		fault("files_changed names %q, the trees differ in %q", got, want)
	}
	index := filepath.Join(s.Host.Home, "index")
	bare := []string{"--git-dir=" + filepath.Join(repo, ".git")}
	apply := func(args ...string) string {
		out, err := gitIndex(ctx, s.Host.Canary, index, append(slices.Clone(bare), args...)...)
		if err != nil {
			fault("%v", err)
		}
		return strings.TrimSpace(out)
	}
	apply("read-tree", g.BaseCommit)
	apply("apply", "--cached", g.Patch)
	if got := apply("write-tree"); got != g.Tree {
		fault("the patch gives tree %s, the result says %s", got, g.Tree)
	}
}

// broken returns the violated invariant; "" when all hold.
func (s Scene) broken() string {
	if s.Hung {
		return "the program did not end"
	}
	if p := s.Pwned(); p != "" {
		return p
	}
	if p := s.Leaked(); p != "" {
		return p
	}
	faults := s.Faults
	if !s.alters {
		for _, a := range s.Altered() {
			faults = append(faults, "the user's repository: "+a)
		}
	}
	return strings.Join(faults[:min(len(faults), 5)], "; ")
}
