package table

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/runner/document"
)

// gitTruth lists attacks that try to make the diff hide, invent or change something.
func gitTruth() []attack.Attack {
	return append(gitHidden(), gitBytes()...)
}

// landedAs reports that the attack's own file did not land with a content, or is not reported.
func landedAs(name, content string) func(s attack.Scene) string {
	return func(s attack.Scene) string {
		f, ok := s.Landed[s.Own(name)]
		switch {
		case !ok:
			return s.Own(name) + " did not land"
		case f.Content != content:
			return fmt.Sprintf("%s landed as %.60q", s.Own(name), f.Content)
		case s.Changed(s.Own(name)) == "":
			return s.Own(name) + " changed and is not reported"
		}
		return ""
	}
}

// gitHidden lists those that hide a change from git.
func gitHidden() []attack.Attack {
	hidden := func(id, title, script string) attack.Attack {
		return attack.Attack{
			ID: id, Group: attack.GitTruth, Title: title, Repo: attack.Tracked("f", "good\n"), Script: script,
			Breached: landedAs("f", "evil\n"), Shares: true,
		}
	}
	const local = "git -c user.name=a -c user.email=a@a "
	alone := func(a attack.Attack) attack.Attack { a.Shares = false; return a }
	return []attack.Attack{
		hidden("T01", "an edit of the same size with its time put back", `git config -f $ROOT/.git/config core.trustctime false
			git config -f $ROOT/.git/config core.checkStat minimal; touch -r f was; echo evil > f; touch -r was f; rm was`),
		hidden("T02", "a file marked as unchanged in the index", `echo evil > f; git update-index --assume-unchanged f`),
		hidden("T02s", "a file marked to be skipped in the index", `echo evil > f; git update-index --skip-worktree f`),
		{
			ID: "T02d", Group: attack.GitTruth, Title: "a deletion marked to be skipped in the index", Repo: attack.Tracked("f", "good\n"),
			Script: `git update-index --skip-worktree f; rm f`, Shares: true,
			Breached: func(s attack.Scene) string {
				if _, ok := s.Landed[s.Own("f")]; ok || s.Changed(s.Own("f")) != "deleted" {
					return "the deletion is hidden"
				}
				return ""
			},
		},
		hidden("T02x", "a new file excluded in the repository's settings", `git rm -q --cached f; echo evil > f; echo /t02x >> $ROOT/.git/info/exclude`),
		hidden("T02i", "a new file excluded by an ignore file the agent wrote", `git rm -q --cached f; echo evil > f; echo '*' > .gitignore`),
		hidden("T02e", "a new file excluded by a list named in the settings",
			`git rm -q --cached f; echo evil > f; git config -f $ROOT/.git/config core.excludesFile t02e/list; echo /t02e > list`),
		hidden("T03", "the agent commits, so that nothing is changed", `echo evil > f; git add f; `+local+`commit -q -m mine`),
		alone(hidden("T04", "the repository is created again around the change", `echo evil > f; cd $ROOT; rm -rf .git; git init -q; git add -A; `+local+`commit -q -m base`)),
		alone(hidden("T04o", "the history is replaced by an orphan", `echo evil > f; git checkout -q --orphan x; git add -A; `+local+`commit -q -m base`)),
		{
			ID: "T12", Group: attack.GitTruth, Title: "a replacement object shows another tree for the commit", Repo: attack.Tracked("f", "good\n"),
			Script: `echo evil > f; git add f; ` + local + `commit -q -m mine; e=$(git rev-parse HEAD)
				git replace $e $(` + local + `commit-tree HEAD~1^{tree} -p HEAD~1 -m mine)`,
			Naive: attack.Naive{Host: "true"},
			Breached: func(s attack.Scene) string {
				if !strings.Contains(s.Patch, "+evil") {
					return "the change is not in the patch"
				}
				return ""
			},
			Shares: true,
		},
		{
			ID: "T13", Group: attack.GitTruth, Title: "a commit the user makes meanwhile becomes part of the change", Script: `sleep 2; echo x > x`,
			Host: func(_ context.Context, h *attack.Host) error {
				h.Meanwhile = func(ctx context.Context) { userCommits(ctx, h) }
				return nil
			},
			Alters: true,
			Breached: func(s attack.Scene) string {
				if _, ok := s.Landed["users.txt"]; ok || s.Landed[s.Own("x")].Content != "x\n" {
					return "what landed is not the box's change alone"
				}
				if strings.Contains(s.Patch, "users.txt") {
					return "the patch holds the user's own change"
				}
				return ""
			},
		},
		{
			ID: "T14", Group: attack.GitTruth, Title: "an attribute calls source code binary", Repo: attack.Tracked("f.js", "good\n"),
			Script: `echo 'evil()' >> f.js; echo '*.js -diff' > .gitattributes`, Shares: true,
			Breached: func(s attack.Scene) string {
				if !strings.Contains(s.Patch, "+evil()") {
					return "the change is hidden in the patch"
				}
				return ""
			},
		},
		{
			ID: "T23", Group: attack.GitTruth, Title: "objects of the user's repository are overwritten", Repo: attack.Tracked("f", "good\n"),
			Script: `o=$(git rev-parse HEAD:t23/f); p=$ROOT/.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)
				chmod u+w $p; echo JUNK > $p; find $ROOT/.git -name '*.pack' -exec chmod u+w {} + -exec dd if=/dev/zero of={} bs=1 seek=20 count=20 conv=notrunc \;
				echo x > x`,
			Naive:    attack.Naive{Host: "git fsck --full"},
			Breached: userObjects,
		},
		{
			ID: "T18", Group: attack.GitTruth, Title: "an alternates file that is a link to a file of the host, shown in an error",
			Script:   `echo x > x; rm -f $ROOT/.git/objects/info/alternates; mkdir -p $ROOT/.git/objects/info; ln -s "$OUT/secret" $ROOT/.git/objects/info/alternates`,
			Breached: attack.Scene.Leaked,
		},
		{
			ID: "T38", Group: attack.GitTruth, Title: "branches and tags of the user are moved and deleted",
			Script: `echo x > x; git branch -f keep $(` + local + `commit-tree HEAD^{tree} -m evil); git tag -d v1; git update-ref refs/heads/new HEAD`,
			Host:   tagged,
			Breached: func(s attack.Scene) string {
				for _, a := range s.Altered() {
					if strings.Contains(a, "refs/heads/keep") || strings.Contains(a, "refs/tags/v1") || strings.Contains(a, "refs/heads/new") {
						return "the user's repository: " + a
					}
				}
				return ""
			},
		},
	}
}

// userObjects reports that the user's repository is damaged.
func userObjects(s attack.Scene) string {
	for _, f := range s.Faults {
		if strings.Contains(f, "git fsck") {
			return f
		}
	}
	if s.Naive && (strings.Contains(string(s.Stderr), "corrupt") || strings.Contains(string(s.Stderr), "mismatch") || strings.Contains(string(s.Stderr), "error:")) {
		return "objects of the user's repository are damaged"
	}
	return ""
}

// gitBytes lists those that make what lands differ from what was in the box.
func gitBytes() []attack.Attack {
	bytes := func(id, title, content, script string) attack.Attack {
		return attack.Attack{ID: id, Group: attack.GitTruth, Title: title, Script: script, Breached: landedAs("f.txt", content), Shares: true}
	}
	return []attack.Attack{
		bytes("T07", "an attribute changes line ends", "a\r\nb\r\n", `echo '*.txt text eol=crlf' > .gitattributes; printf 'a\r\nb\r\n' > f.txt`),
		bytes("T07i", "an attribute changes identifiers", "$Id: tested$\n", `echo '*.txt ident' > .gitattributes; printf '$Id: tested$\n' > f.txt`),
		bytes("T07e", "an attribute changes the encoding", "h\x00i\x00", `echo '*.txt text working-tree-encoding=UTF-16LE' > .gitattributes; printf 'h\000i\000' > f.txt`),
		bytes("T07c", "a setting changes line ends", "a\r\nb\r\n", `git config -f $ROOT/.git/config core.autocrlf input; printf 'a\r\nb\r\n' > f.txt`),
		{
			ID: "T09", Group: attack.GitTruth, Title: "setuid programs on the host", Script: `cp /bin/true f; chmod 6777 f; mkdir d; echo x > d/x; chmod 1777 d`, Shares: true,
			Breached: setuid,
		},
		{
			ID: "T10", Group: attack.GitTruth, Title: "files and directories become links out of the tree",
			Repo: func(_, own string) error {
				return attack.WriteFile(filepath.Join(own, "dir/inside"), "x\n", 0o644)
			},
			Script:   `echo x > f; rm -r dir; ln -s /etc dir; ln -s ../../../../../../etc/passwd up; ln -s "$OUT/secret" secret; ln -s ./loop loop`,
			Naive:    attack.Naive{Host: `git add -A; git commit -q -m work; head -c 100 t10/secret t10/up`},
			Breached: leadsOut,
		},
		{
			ID: "T16", Group: attack.GitTruth, Title: "two names become one in the result", Script: `echo 1 > "$(printf 'bad\377')"; echo 2 > "$(printf 'bad\376')"`, Shares: true,
			Breached: confused,
		},
		{
			ID: "T30", Group: attack.GitTruth, Title: "the commit names another author",
			Script: `echo x > x; git config -f $ROOT/.git/config user.name "The Boss"; git config -f $ROOT/.git/config user.email boss@example.com`,
			Breached: func(s attack.Scene) string {
				if strings.Contains(s.Commit, "Boss") {
					return "the landed commit is the Boss's"
				}
				return attack.Missing(s, "x")
			},
			Shares: true,
		},
		{
			ID: "T33", Group: attack.GitTruth, Title: "a program's new execute bit is hidden", Repo: attack.Tracked("f", "#!/bin/sh\n"),
			Script: `git config -f $ROOT/.git/config core.fileMode false; chmod +x f`, Shares: true,
			Breached: executable,
		},
		{
			ID: "T35", Group: attack.GitTruth, Title: "a file lands as a link",
			Repo:   func(_, own string) error { return os.Symlink("nowhere", filepath.Join(own, "f")) },
			Script: `git config -f $ROOT/.git/config core.symlinks false; rm f; printf ../../outside > f`, Shares: true,
			Breached: func(s attack.Scene) string {
				if m := s.Landed[s.Own("f")].Mode; m != "100644" {
					return "the file landed with mode " + m
				}
				return ""
			},
		},
	}
}

// leadsOut reports that links out of the tree were followed, or not reported.
func leadsOut(s attack.Scene) string {
	if l := s.Leaked(); l != "" {
		return l
	}
	for _, n := range []string{"dir", "up", "secret"} {
		if s.Changed(s.Own(n)) == "" || !s.Has("symlink_escapes", s.Own(n)) {
			return s.Own(n) + " leads out and is not reported"
		}
	}
	return unrefused(s)
}

// confused reports that two names are one in the document.
func confused(s attack.Scene) string {
	var r document.Result
	if err := json.Unmarshal(s.Stdout, &r); err != nil {
		return err.Error()
	}
	names := map[string]bool{}
	for _, f := range r.FilesChanged {
		if strings.HasPrefix(f.Path, s.Own("bad")) {
			names[f.Path+"\x00"+f.PathB64] = true
		}
	}
	if len(names) != 2 {
		return fmt.Sprintf("%d of two names are distinguished", len(names))
	}
	return ""
}

// setuid reports that setuid bits reached the host.
func setuid(s attack.Scene) string {
	if was := s.Then[s.Own("f")]; strings.HasPrefix(was, "u") || strings.HasPrefix(was, "g") {
		return "a setuid program of the box is on the host"
	}
	if m := s.Landed[s.Own("f")].Mode; m != "100755" {
		return "it landed with mode " + m
	}
	return ""
}

// executable reports that a change of mode is hidden.
func executable(s attack.Scene) string {
	if s.Landed[s.Own("f")].Mode != "100755" || s.Changed(s.Own("f")) == "" {
		return "the change of mode is hidden"
	}
	return ""
}

// userCommits is a user who commits to their branch during a run.
func userCommits(ctx context.Context, h *attack.Host) {
	late := time.NewTimer(time.Second) // the naive host has no state directory to watch
	defer late.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return
		case <-late.C:
			waiting = false
		case <-tick.C:
			runs, _ := filepath.Glob(filepath.Join(h.State, "active", "*"))
			waiting = len(runs) == 0
		}
	}
	if attack.WriteFile(filepath.Join(h.Repo, "users.txt"), "the user's\n", 0o644) == nil {
		_, _ = attack.Git(ctx, h.Repo, "add", "users.txt") // a commit that fails cannot be mistaken for the box's
		_, _ = attack.Git(ctx, h.Repo, "commit", "-q", "-m", "the user's own")
	}
}

// tagged gives the user's repository a branch and a tag of its own.
func tagged(ctx context.Context, h *attack.Host) error {
	if _, err := attack.Git(ctx, h.Repo, "branch", "keep"); err != nil {
		return err
	}
	_, err := attack.Git(ctx, h.Repo, "tag", "v1")
	return err
}
