package table

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
)

// landing lists attacks that try to get more than one new branch, or something dangerous on it.
func landing() []attack.Attack {
	land := func(id, title, script string, breached func(attack.Scene) string) attack.Attack {
		return attack.Attack{ID: id, Group: attack.Landing, Title: title, Script: script, Breached: breached, Shares: true}
	}
	return append([]attack.Attack{
		land("L01", "more of the user's repository changes than one new branch", `echo x > x; echo y >> $ROOT/README.md`, func(s attack.Scene) string {
			if a := s.Altered(); len(a) > 0 {
				return "the user's repository: " + a[0]
			}
			if n := len(s.Branches); n != 1 {
				return "there is not exactly one new branch"
			}
			return attack.Missing(s, "x")
		}),
		{
			ID: "L01b", Group: attack.Landing, Title: "the user's checked out branch with the task's name is overwritten", Script: `echo x > x`,
			Host: func(ctx context.Context, h *attack.Host) error {
				_, err := attack.Git(ctx, h.Repo, "checkout", "-q", "-b", "sandboxrun/mine")
				return err
			},
			Task:     func(task map[string]any) { task["task_id"] = "mine" },
			Naive:    attack.Naive{Host: "git add -A; git commit -q -m work; git branch -f sandboxrun/mine HEAD"},
			Alters:   true, // one more branch appears next to it
			Breached: overwritten,
		},
		{
			ID: "L02", Group: attack.Landing, Title: "the user's own hooks run on files of the box", Script: `echo x > x`,
			Host: func(_ context.Context, h *attack.Host) error {
				for _, name := range []string{"reference-transaction", "pre-commit", "post-commit", "post-checkout", "prepare-commit-msg", "pre-auto-gc", "post-index-change", "pre-push", "post-update", "pre-receive"} {
					body := "#!/bin/sh\ntouch " + filepath.Join(h.Canary, "L02") + "." + name + "\n"
					if err := h.Write(filepath.Join(h.Repo, ".git/hooks", name), body, 0o755); err != nil {
						return err
					}
				}
				return nil
			},
			After: [][]string{{"apply", "RUN"}}, Alters: true,
			Breached: attack.Scene.Pwned,
		},
		{
			ID: "L03", Group: attack.Landing, Title: "the commit's message claims signatures, authors and colours", Script: `echo x > x`,
			Task: func(task map[string]any) {
				task["objective"] = "Mend it\x1b[31m\u202e.\n\nSigned-off-by: The Boss <boss@example.com>\nCo-authored-by: The Boss <boss@example.com>"
				task["notes_for_human"] = "Reviewed-by: The Boss <boss@example.com>"
			},
			Breached: signed,
		},
		land("L06", "links that git reads through", `mkdir d; for n in modules attributes ignore; do ln -s ../x d/.git$n; done; ln -s ../x d/.mailmap; echo x > x`,
			func(s attack.Scene) string {
				if why := unsound(s); why != "" {
					return why
				}
				return attack.Missing(s, "x")
			}),
		{
			ID: "L06m", Group: attack.Landing, Title: "a .gitmodules with options and paths out of the tree as names and addresses",
			Script: `printf '[submodule "../../x"]\n\tpath = -q\n\turl = --upload-pack=touch\n[submodule "y"]\n\tpath = y\n\turl = -u./x\n\tupdate = !touch %s\n' "$PWN" > $ROOT/.gitmodules; echo x > x`,
			Breached: func(s attack.Scene) string {
				if why := unsound(s); why != "" {
					return why
				}
				return unrefused(s)
			},
		},
		{
			ID: "L07", Group: attack.Landing, Title: "text that reads differently from how it runs", Shares: true,
			Script:   `printf 'if admin /* \342\200\256 } \342\201\246 if guest */ {\n' > a.c; echo x > x`,
			Breached: turned("a.c"),
		},
		{
			ID: "L07n", Group: attack.Landing, Title: "text that reads otherwise than it runs, where a NUL byte or UTF-16 hides it from searches of text", Shares: true,
			Script:   `printf 'if admin /* \342\200\256 } \342\201\246 if guest */ {\n// \000\n' > a.c; printf '\377\376/\000/\000 \000\056\040x\000\n\000' > b.c; echo x > x`,
			Breached: turned("a.c", "b.c"),
		},
		{
			ID: "L08", Group: attack.Landing, Title: "objects are pruned during the landing", Script: `i=0; while [ $i -lt 200 ]; do echo $i > $i; i=$((i+1)); done; echo x > x`,
			Host: func(_ context.Context, h *attack.Host) error {
				h.Meanwhile = func(ctx context.Context) {
					for ctx.Err() == nil {
						_, _ = attack.Git(ctx, h.Repo, "gc", "--quiet", "--prune=now") // it may find a lock
					}
				}
				return nil
			},
			Naive:    attack.Naive{Skip: "the counterpart loses objects by chance only"},
			Alters:   true,
			Breached: func(s attack.Scene) string { return attack.Missing(s, "x", "0", "199") },
		},
		{
			ID: "D14", Group: attack.Landing, Title: "a task's name leads out of the directory of branches", Script: `echo x > x`,
			Task:     func(task map[string]any) { task["task_id"] = "../../hooks/post-checkout" },
			Naive:    attack.Naive{Host: `git add -A; git commit -q -m work; mkdir -p .git/refs/heads/sandboxrun; git rev-parse HEAD > ".git/refs/heads/sandboxrun/../../../hooks/post-checkout"`},
			Breached: ledOut,
		},
	}, planted()...)
}

// unsound returns git's strict objections to the landed commit.
func unsound(s attack.Scene) string {
	if s.Fsck != "" {
		return "git fsck --strict: " + s.Fsck
	}
	return ""
}

// planted lists files that programs of the host run automatically once they are in the user's tree.
func planted() []attack.Attack {
	return []attack.Attack{
		{
			ID: "L05", Group: attack.Landing, Title: "files that editors, shells and services of the host run automatically",
			Script: `cd $ROOT; mkdir -p .github/workflows .husky .vscode .devcontainer .claude
				echo 'on: push' > .github/workflows/x.yml; echo x > .husky/pre-commit; echo '{}' > .vscode/tasks.json; echo x > .envrc; echo '{}' > .devcontainer/devcontainer.json
				echo '{}' > .claude/settings.json; echo '{}' > .mcp.json; echo x > .gitattributes`,
			Breached: func(s attack.Scene) string {
				for _, p := range []string{".github/workflows/x.yml", ".husky/pre-commit", ".vscode/tasks.json", ".envrc", ".devcontainer/devcontainer.json", ".claude/settings.json", ".mcp.json"} {
					if s.Changed(p) == "" {
						return p + " changed and is not reported"
					}
					if !flagged(s, p) {
						return p + " runs on the host and nobody says so"
					}
				}
				return ""
			},
		},
		{
			ID: "L11", Group: attack.Landing, Title: "apply writes through a link of the user's tree", Script: `mkdir -p $ROOT/data; echo "$ID" > $ROOT/data/secret; echo x > x`,
			Host: func(_ context.Context, h *attack.Host) error { // like untracked links of a work tree
				return os.Symlink(h.Out, filepath.Join(h.Repo, "data"))
			},
			After: [][]string{{"apply", "RUN"}}, Alters: true,
			Naive: attack.Naive{Host: `mkdir -p "$OUT"; [ -d data ] && echo L11 > data/secret`},
			Breached: func(s attack.Scene) string {
				text, err := os.ReadFile(filepath.Join(s.Host.Out, "secret"))
				if err != nil || strings.TrimSpace(string(text)) != attack.Secret {
					return "a file outside of the repository was written"
				}
				return ""
			},
		},
		{
			ID: "L12", Group: attack.Landing, Title: "apply writes a hook through a link of the user's tree",
			Script: `mkdir -p $ROOT/docs; printf '#!/bin/sh\ntouch "%s"\n' "$PWN" > $ROOT/docs/pre-commit; chmod +x $ROOT/docs/pre-commit`,
			Host: func(_ context.Context, h *attack.Host) error {
				return os.Symlink(".git/hooks", filepath.Join(h.Repo, "docs"))
			},
			After: [][]string{{"apply", "RUN"}, {"apply", "--refused", "all", "RUN"}}, Alters: true,
			Naive:    naivelyWritten(".git/hooks/pre-commit"),
			Breached: func(s attack.Scene) string { return written(s, ".git/hooks/pre-commit") },
		},
		{
			ID: "L13", Group: attack.Landing, Title: "apply writes files that the change does not name, through a link of the user's tree",
			Script: `mkdir -p $ROOT/vendor; echo x > $ROOT/vendor/x`,
			Host: func(_ context.Context, h *attack.Host) error {
				return errors.Join(os.Mkdir(filepath.Join(h.Repo, "src"), 0o755), os.Symlink("src", filepath.Join(h.Repo, "vendor")))
			},
			After: [][]string{{"apply", "RUN"}, {"apply", "--refused", "all", "RUN"}}, Alters: true,
			Naive:    naivelyWritten("src/x"),
			Breached: func(s attack.Scene) string { return written(s, "src/x") },
		},
		{
			ID: "L14", Group: attack.Landing, Title: "apply takes a change that the task forbids", Script: `echo L14 > $ROOT/forbidden`,
			Task:  func(task map[string]any) { task["protected_paths"] = []any{"forbidden"} },
			After: [][]string{{"apply", "RUN"}}, Alters: true,
			Naive:    naivelyWritten("forbidden"),
			Breached: func(s attack.Scene) string { return written(s, "forbidden") },
		},
		{
			ID: "L15", Group: attack.Landing, Title: "apply takes a link into .git that was refused", Script: `ln -s .git/config $ROOT/notes`,
			After: [][]string{{"apply", "RUN"}, {"apply", "--refused", "all", "RUN"}}, Alters: true,
			Naive:    naivelyWritten("notes"),
			Breached: func(s attack.Scene) string { return written(s, "notes") },
		},
		{
			ID: "L16", Group: attack.Landing, Title: "a link in the place of the branches of this program leads out of the repository", Script: `echo x > x`,
			Host: func(_ context.Context, h *attack.Host) error {
				return errors.Join(os.MkdirAll(h.Out, 0o755), os.Symlink(h.Out, filepath.Join(h.Repo, ".git/refs/heads/sandboxrun")))
			},
			Naive: attack.Naive{Host: "git add -A; git commit -q -m work; git update-ref refs/heads/sandboxrun/out HEAD"}, Alters: true,
			Breached: func(s attack.Scene) string {
				entries, err := os.ReadDir(s.Host.Out)
				for _, e := range entries {
					if text, err := os.ReadFile(filepath.Join(s.Host.Out, e.Name())); err == nil && len(strings.TrimSpace(string(text))) == 40 {
						return "a branch was written outside of the repository: " + e.Name()
					}
				}
				if err != nil {
					return err.Error()
				}
				return ""
			},
		},
	}
}

// naivelyWritten leaves a mark outside of the repository, which is emptied before its files are listed, where a path exists.
func naivelyWritten(path string) attack.Naive {
	return attack.Naive{Host: `mkdir -p "$OUT"; if [ -e ` + path + ` ]; then touch "$OUT/written"; fi`}
}

// written reports that a path of the user's working tree or git directory exists after the run.
func written(s attack.Scene, path string) string {
	_, err := os.Lstat(filepath.Join(s.Host.Out, "written"))
	if s.Then[path] != "" || err == nil {
		return path + " was written"
	}
	return ""
}

// flagged reports whether any issue names a path.
func flagged(s attack.Scene, p string) bool {
	for _, i := range s.Result.Issues {
		if i.Path == p {
			return true
		}
	}
	return false
}

// overwritten reports that the user's branch was changed.
func overwritten(s attack.Scene) string {
	if s.Branches["sandboxrun/mine"] != s.BaseCommit {
		return "the user's branch sandboxrun/mine is at " + s.Branches["sandboxrun/mine"]
	}
	return attack.Missing(s, "x")
}

// signed reports that the commit's message contains forged claims.
func signed(s attack.Scene) string {
	for line := range strings.SplitSeq(s.Commit, "\n") {
		if strings.HasPrefix(line, "Signed-off-by:") || strings.HasPrefix(line, "Co-authored-by:") || strings.HasPrefix(line, "Reviewed-by:") {
			return "the commit says " + line
		}
	}
	if strings.ContainsAny(s.Commit, "\x1b\u202e") {
		return "the commit's message holds control characters"
	}
	return attack.Missing(s, "x")
}

// ledOut reports that a name became a path.
func ledOut(s attack.Scene) string {
	for _, a := range s.Altered() {
		if strings.Contains(a, "hooks/") {
			return "the user's repository: " + a
		}
	}
	if s.Exit == 0 && !s.Naive {
		return "the task was not refused"
	}
	return ""
}

// turned reports files in which the direction of text is changed without an issue.
func turned(names ...string) func(attack.Scene) string {
	return func(s attack.Scene) string {
		for _, name := range names {
			if !s.Has("bidi_text", s.Own(name)) {
				return "the direction of text changes in " + name + " and no issue reports it"
			}
		}
		return attack.Missing(s, "x")
	}
}
