package table

import (
	"context"
	"path/filepath"

	"sandboxrun/cmd/sandboxrun/attack"
)

// gitExec lists attacks that try to make git on the host start a program of the box.
func gitExec() []attack.Attack {
	// Settings of the repository the agent works in; each names a program.
	setting := func(id, title, base, script, host string) attack.Attack {
		a := attack.Attack{ID: id, Group: attack.GitExec, Title: title, Script: script, Naive: attack.Naive{Host: host}, Breached: attack.Scene.Pwned, Shares: true}
		if base != "" {
			a.Repo = attack.Tracked("f.txt", base)
		}
		return a
	}
	const config = "git config -f $ROOT/.git/config "
	attacks := []attack.Attack{
		setting("G02", "fsmonitor program in the repository's settings", "", config+`core.fsmonitor "touch $PWN; false"`, ""),
		setting("G03", "external diff program", "one\n", config+`diff.external "touch $PWN; true"; echo two >> f.txt`, ""),
		setting("G04", "clean filter with a name chosen by the attacker", "one\n",
			config+`filter.e.clean "touch $PWN; cat"; echo '*.txt filter=e' > .gitattributes; echo two >> f.txt`, ""),
		setting("G04p", "long-running filter process", "one\n",
			config+`filter.e.process "touch $PWN; false"; echo '*.txt filter=e' > .gitattributes; echo two >> f.txt`, ""),
		setting("G05", "text conversion for a diff", "one\n",
			config+`diff.e.textconv "touch $PWN; cat"; echo '*.txt diff=e' > .gitattributes; echo two >> f.txt`, ""),
		setting("G05d", "diff driver's own program", "one\n",
			config+`diff.e.command "touch $PWN; true"; echo '*.txt diff=e' > .gitattributes; echo two >> f.txt`, ""),
		setting("G05m", "merge driver", "one\n",
			config+`merge.e.driver "touch $PWN; true"; mkdir -p $ROOT/.git/info; echo 'g05m/f.txt merge=e' >> $ROOT/.git/info/attributes; echo two > f.txt`,
			`git add -A; git commit -q -m work; git checkout -q -b other $BASE; echo three > g05m/f.txt; git commit -q -a -m other; git merge -q main`),
		setting("G14", "hooks planted in the repository", "",
			`for h in pre-commit post-commit post-checkout post-index-change prepare-commit-msg; do
				printf '#!/bin/sh\ntouch %s.%s\n' "$PWN" $h > $ROOT/.git/hooks/$h; chmod +x $ROOT/.git/hooks/$h
			done; echo x > f`, ""),
		setting("G15", "hooks directory inside the tree", "",
			config+`core.hooksPath g15/hooks; mkdir hooks; printf '#!/bin/sh\ntouch %s\n' "$PWN" > hooks/pre-commit; chmod +x hooks/pre-commit`, ""),
		setting("G18", "ssh program for the next fetch", "",
			config+`remote.origin.url ssh://nowhere/x; `+config+`core.sshCommand "touch $PWN; false"`, "git fetch origin"),
		setting("G19", "remote that is a program", "",
			config+`remote.origin.url "ext::touch $PWN"; `+config+`protocol.ext.allow always`, "git fetch origin"),
		setting("G20", "signing program from the tree", "",
			config+`commit.gpgSign true; `+config+`gpg.program ./g20/gpg; printf '#!/bin/sh\ntouch %s\n' "$PWN" > gpg; chmod +x gpg`, ""),
		setting("G21", "editor for the commit message", "",
			config+`core.editor "touch $PWN; false"; echo x > f`, "git add -A; git commit -q"),
		setting("G22", "editor of a rebase", "one\n",
			config+`sequence.editor "touch $PWN; false"; echo two > f.txt`, "git commit -q -a -m two; git rebase -i HEAD~1"),
		setting("G23", "bare repository inside the tree, found by git commands in its directory", "",
			`git init -q --bare inner; cp -r inner/. .; rm -rf inner
			 git config -f config core.bare false; git config -f config core.worktree .; git config -f config core.fsmonitor "touch $PWN; false"`,
			"cd g23 && git status"),
		setting("G26", "worktree settings next to the repository's own", "",
			config+`extensions.worktreeConfig true; git config -f $ROOT/.git/config.worktree core.fsmonitor "touch $PWN; false"`, ""),
		setting("G27", "settings included from the tree", "",
			config+`include.path ../g27/more; git config -f more core.fsmonitor "touch $PWN; false"`, ""),
		setting("G28", "an alias that runs a program", "",
			config+`alias.st "!touch $PWN"`, "git st"),
		setting("G29", "credential helper", "",
			config+`remote.origin.url https://127.0.0.1:1/x; `+config+`credential.helper "!touch $PWN; :"; `+config+`http.proxy http://$(echo $ADDRS | cut -d' ' -f1):$PORT`,
			`git credential fill < /dev/null; printf 'protocol=https\nhost=x\n\n' | GIT_TERMINAL_PROMPT=0 git credential fill`),
	}
	attacks = append(attacks, gitNested()...)
	for i, a := range attacks {
		if a.ID != "G06" { // proven already
			attacks[i] = attack.Proven(a)
		}
	}
	return attacks
}

// gitNested lists those that hide a repository of their own in the tree, or replace its own.
func gitNested() []attack.Attack {
	const inner = `git init -q $1; cd $1; echo inner > s; git add s; git -c user.name=a -c user.email=a@a commit -q -m s; `
	return []attack.Attack{
		{
			ID: "G01", Group: attack.GitExec, Title: "\".git\" becomes a file that names a repository in the tree",
			Script: `cd $ROOT; mv .git .evil; git config -f .evil/config core.fsmonitor "touch $PWN; false"
				echo "gitdir: .evil" > .git; echo x > g01/x`,
			Breached: func(s attack.Scene) string {
				if p := s.Pwned(); p != "" {
					return p
				}
				return attack.Missing(s, "x")
			},
		},
		selfTest("G06"),
		{
			ID: "G06f", Group: attack.GitExec, Title: "a submodule's directory becomes a repository with an fsmonitor, \"ignore = none\"",
			Submodule: "sub",
			Script: `set -- sub; rm -rf sub; printf '[submodule "s"]\n\tpath = g06f/sub\n\turl = ./x\n\tignore = none\n' >> $ROOT/.gitmodules; ` +
				inner + `git config core.fsmonitor "touch $PWN; false"; echo more >> s`,
			Breached: attack.Scene.Pwned,
		},
		{
			ID: "G08", Group: attack.GitExec, Title: "a new repository in the tree runs a program or swallows its files",
			Script: `set -- lib; ` + inner + `git config core.fsmonitor "touch $PWN; false"; echo more >> s`,
			Breached: func(s attack.Scene) string {
				if p := s.Pwned(); p != "" {
					return p
				}
				return attack.Missing(s, "lib/s")
			},
			Shares: true,
		},
		{
			ID: "G11", Group: attack.GitExec, Title: "the user's own git settings apply to files of the box",
			Repo: attack.Tracked("f.bin", "one\n"),
			Host: func(_ context.Context, h *attack.Host) error {
				touch := filepath.Join(h.Canary, "G11")
				return h.Write(filepath.Join(h.Home, ".gitconfig"), `[core]
	fsmonitor = "touch `+touch+`.fsmonitor; false"
	attributesFile = "`+h.Home+`/attributes"
	hooksPath = "`+h.Home+`/hooks"
[diff]
	external = "touch `+touch+`.diff; true"
[filter "lfs"]
	clean = "touch `+touch+`.lfs; cat"
	required = true
[commit]
	gpgSign = true
[gpg]
	program = "`+h.Home+`/gpg"
`, 0o644)
			},
			Script:   `echo two >> f.bin; echo '*.bin filter=lfs' > .gitattributes`,
			After:    [][]string{{"runs", "show", "RUN"}, {"runs", "diff", "RUN"}, {"apply", "RUN"}},
			Alters:   true,
			Breached: attack.Scene.Pwned,
		},
		{
			ID: "G16", Group: attack.GitExec, Title: "a setting makes a directory of the host the work tree",
			Script:   `echo x > x; git config -f $ROOT/.git/config core.worktree "$OUT"`,
			Breached: attack.Scene.Leaked,
		},
		{
			ID: "G30", Group: attack.GitExec, Title: "apply brings hooks and settings into the user's tree",
			Script: `mkdir -p lib/.git/hooks; echo 'ref: refs/heads/x' > lib/.git/HEAD; mkdir -p lib/.git/objects lib/.git/refs
				printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch %s; false"\n' "$PWN" > lib/.git/config; echo x > lib/x; echo x > x`,
			After: [][]string{{"apply", "RUN"}}, Alters: true,
			Naive: attack.Naive{Host: "cd g30/lib && git status"},
			Breached: func(s attack.Scene) string {
				if p := s.Pwned(); p != "" {
					return p
				}
				for p := range s.Then {
					if filepath.Base(filepath.Dir(p)) == ".git" && p != s.Own("lib") && filepath.Dir(p) != ".git" {
						return "the user's tree holds " + p
					}
				}
				if s.Then[s.Own("x")] == "" {
					return "the change was not applied"
				}
				return ""
			},
		},
	}
}
