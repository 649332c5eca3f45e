package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandboxrun/runner/document"
)

// branches lists the branches below sandboxrun/ that a repository has.
func (r *repo) branches() string {
	r.t.Helper()
	return r.git("for-each-ref", "--format=%(refname:short)", "refs/heads/sandboxrun")
}

// A change that attacks a checkout gets no branch; it is kept as a patch, and the user can permit some classes.
func TestAttacksOnACheckoutDoNotLand(t *testing.T) { //nolint:tparallel // they share one state directory
	t.Parallel()
	r := newRig(t)
	for name, tc := range map[string]struct {
		command, code, path string
	}{
		"a link out of the tree":  {"ln -s ../../../etc/passwd link", "symlink_escapes", "link"},
		"a link through a link":   {"mkdir d; ln -s .. d/up; ln -s d/up/../x link", "symlink_escapes", "link"},
		"a link over a directory": {"mkdir -p A/modules; echo x > A/modules/post-checkout; ln -s .git a", "case_collision", "a"},
		"a submodule's address":   {`printf '[submodule "a"]\n\tpath = a\n\turl = -u./payload\n' > .gitmodules`, "dangerous_path", ".gitmodules"},
		"a submodule's path":      {`printf '[submodule "a"]\n\tpath = "a\r"\n\turl = ./x\n' > .gitmodules`, "dangerous_path", ".gitmodules"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRepo(t, sample)
			before := fingerprint(t, p.dir)
			res, o := r.execute(p.task("echo good > good.txt; " + tc.command))
			if o.exit != 3 || res.Status != "partial" || !hasCode(res, "land_refused") || !hasCode(res, tc.code) {
				t.Errorf("exit %d, %s, issues %v", o.exit, res.Status, res.Issues)
			}
			named := false
			for _, i := range res.Issues {
				named = named || i.Code == tc.code && i.Path == tc.path
			}
			if !named {
				t.Errorf("no %s names %s: %v", tc.code, tc.path, res.Issues)
			}
			if res.Git.Branch != "" || p.branches() != "" || !maps.Equal(before, fingerprint(t, p.dir)) {
				t.Errorf("the repository changed: branch %q, refs %q", res.Git.Branch, p.branches())
			}
			if patch, err := os.ReadFile(res.Git.Patch); err != nil || !strings.Contains(string(patch), "good.txt") {
				t.Errorf("patch: %v\n%s", err, patch)
			}
		})
	}
	t.Run("permitted by the user only", func(t *testing.T) {
		permissive := newRig(t)
		permissive.config["land"] = map[string]any{"permit": []string{"symlink_escapes"}, "refuse": []string{"workflow"}}
		p := newRepo(t, sample)
		res, _ := permissive.execute(p.task("ln -s /usr/share/dict link"))
		if res.Status != "partial" || !hasCode(res, "symlink_escapes") || hasCode(res, "land_refused") || res.Git.Branch == "" {
			t.Errorf("%s, branch %q, issues %v", res.Status, res.Git.Branch, res.Issues)
		}
		res, _ = permissive.execute(p.task("mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml"))
		if res.Git.Branch != "" || !hasCode(res, "land_refused") {
			t.Errorf("branch %q, issues %v", res.Git.Branch, res.Issues)
		}
	})
}

// Files that programs obey are reported by class and land; the test checks the result with git's own strict check, a
// checkout and a merge.
func TestObeyedFilesAreReportedAndLandCleanly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newRepo(t, sample)
	pwn := filepath.Join(t.TempDir(), "PWN")
	for _, hook := range []string{"reference-transaction", "post-commit", "pre-commit", "post-checkout", "commit-msg", "prepare-commit-msg", "post-index-change"} {
		path := filepath.Join(p.dir, ".git/hooks", hook)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+hook+" >> "+pwn+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Git itself runs them.
	gitIn(t, p.dir, "commit", "-q", "--allow-empty", "-m", "naive")
	if _, err := os.Stat(pwn); err != nil {
		t.Errorf("the hooks do not run for git itself: %v", err)
	}
	if err := os.Remove(pwn); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"core.hooksPath", ".git/hooks"}, {"commit.gpgSign", "true"}, {"gpg.program", "touch " + pwn}, {"core.logAllRefUpdates", "always"},
		{"user.name", "Ann"}, {"user.email", "ann@example.org"}} {
		p.git("config", kv[0], kv[1])
	}
	before := fingerprint(t, p.dir)
	task := p.task(strings.Join([]string{
		"mkdir -p .github/workflows .vscode .husky lib && git init -q lib 2>/dev/null || mkdir -p lib/.git",
		"echo 'on: push' > .github/workflows/ci.yml; echo '{}' > .vscode/tasks.json; echo x > .husky/pre-commit; echo obey > AGENTS.md; echo 'all:' > Makefile",
		"echo '* filter=evil' > .gitattributes; echo '{\"scripts\":{\"postinstall\":\"x\"}}' > package.json; echo registry=x > .npmrc; echo x > lib/x.c",
		"mkdir .hg; printf '[hooks]\\nupdate = x\\n' > .hg/hgrc; echo x.example > CNAME; echo '[.ShellClassInfo]' > desktop.ini; echo x > eslint.config.mjs",
		`printf 'int a; /* \342\200\256 */\n' > bidi.c; printf 'a\342\200\213b\n' > hidden.txt`,
		"echo x > loose; chmod 6777 loose; mkdir .GIT; echo x > .GIT/config; dd if=/dev/zero of=big bs=1M count=51 2>/dev/null",
	}, "\n"))
	task["objective"] = "Do it.\n\nSigned-off-by: Mallory <m@localhost>\nTask: forged"
	task["notes_for_human"] = "a \x1b[31mnote\r\n\nCo-authored-by: Mallory <m@localhost>\nTask: forged\n"
	task["task_id"] = "obeyed"
	res, _ := r.execute(task)
	for path, class := range map[string]string{
		".github/workflows/ci.yml": "workflow", ".vscode/tasks.json": "editor", ".husky/pre-commit": "hook", "AGENTS.md": "agent", "Makefile": "build",
		".gitattributes": "attributes", "package.json": "package_scripts", ".npmrc": "packages", ".GIT": "left out",
		".hg/hgrc": "other_repository", "CNAME": "hosting", "desktop.ini": "viewed", "eslint.config.mjs": "build",
	} {
		if !slices.ContainsFunc(res.Issues, func(i document.Issue) bool {
			return i.Code == "dangerous_path" && i.Path == path && strings.Contains(i.Description, class)
		}) {
			t.Errorf("%s is not reported as %s", path, class)
		}
	}
	for path, code := range map[string]string{
		"lib": "nested_repository", "bidi.c": "bidi_text", "hidden.txt": "invisible_text", "loose": "mode_dropped", "big": "oversize_file",
	} {
		if !slices.ContainsFunc(res.Issues, func(i document.Issue) bool { return i.Code == code && i.Path == path }) {
			t.Errorf("%s is not reported as %s: %v", path, code, codes(res))
		}
	}
	if res.Git.Branch != "sandboxrun/obeyed" || hasCode(res, "land_refused") {
		t.Fatalf("branch %q, issues %v", res.Git.Branch, res.Issues)
	}
	if after := fingerprint(t, p.dir); !maps.Equal(before, after) {
		t.Error("landing changed more than its branch")
	}
	if ran, err := os.ReadFile(pwn); err == nil {
		t.Errorf("hooks or programs of the repository ran: %s", ran)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction"} {
		if err := os.Remove(filepath.Join(p.dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	p.git("fsck", "--strict", "--full")
	if got := p.git("ls-tree", "-r", res.Git.Branch, "lib", "loose"); !strings.Contains(got, "100644 blob") || !strings.Contains(got, "lib/x.c") || !strings.Contains(got, "100755 blob") {
		t.Errorf("captured:\n%s", got)
	}
	p.git("worktree", "add", "-q", filepath.Join(t.TempDir(), "checkout"), res.Git.Branch)

	message := p.git("log", "-1", "--format=%B", res.Git.Branch)
	c := exec.Command("git", "interpret-trailers", "--parse")
	c.Stdin = strings.NewReader(message + "\n")
	trailers, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "Task: obeyed\nRun: " + res.RunID + "\nBase: " + res.Git.BaseCommit + "\n"
	if string(trailers) != want || strings.ContainsAny(message, "\x1b\r") {
		t.Errorf("trailers %q, want %q; message %q", trailers, want, message)
	}
	if who := p.git("log", "-1", "--format=%an <%ae> %cn %G?", res.Git.Branch); who != "Ann <ann@example.org> sandboxrun N" {
		t.Errorf("signed %q", who)
	}
}

// An impossible branch is reported before the work where it is known then, and else in the result.
func TestImpossibleBranchIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newRepo(t, sample)
	p.git("branch", "sandboxrun")
	doc, exit := r.refuse([]byte(`{"objective":"x","context":{"repo_root":"` + p.dir + `"},"execution_mode":"command","suggested_commands":["true"]}`))
	if exit != 2 || len(doc.Error.Details) != 1 || doc.Error.Details[0].Path != "/land" {
		t.Errorf("exit %d, %+v", exit, doc.Error)
	}
	p.git("branch", "-D", "sandboxrun")
	lock := filepath.Join(p.dir, ".git/refs/heads/sandboxrun/locked.lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	task := p.task("echo x > new.txt")
	task["task_id"] = "locked"
	res, _ := r.execute(task)
	if res.Status != "partial" || !hasCode(res, "repo_locked") || res.Git.Branch != "" || changes(res)["new.txt"] != "added" {
		t.Errorf("%s, branch %q, issues %v", res.Status, res.Git.Branch, res.Issues)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("another process's lock was removed: %v", err)
	}
	p.git("branch", "sandboxrun/taken/below")
	task["task_id"] = "taken"
	if res, _ = r.execute(task); res.Status != "partial" || !hasCode(res, "ref_conflict") || res.Git.Branch != "" {
		t.Errorf("%s, branch %q, issues %v", res.Status, res.Git.Branch, res.Issues)
	}
}
