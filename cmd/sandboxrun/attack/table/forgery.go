package table

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/runner/document"
)

// forgery lists attacks that try to get a verdict without a measurement.
func forgery() []attack.Attack {
	accept := func(task map[string]any, commands ...string) {
		var criteria []any
		for _, c := range commands {
			criteria = append(criteria, map[string]any{"command": c})
		}
		task["acceptance_criteria"] = criteria
	}
	// approved reports that bad work was reported as a success.
	approved := func(s attack.Scene) string {
		if s.Result.Status == document.StatusSuccess {
			return "bad work is reported as a success"
		}
		return ""
	}
	const wrong = `echo 'echo wrong' > $ROOT/sum.sh; `
	forge := func(id, title, script string, commands ...string) attack.Attack {
		return attack.Attack{
			ID: id, Group: attack.Forgery, Title: title, Script: script, Breached: approved,
			Task: func(task map[string]any) { accept(task, commands...) },
		}
	}
	attacks := []attack.Attack{
		{
			ID: "F01", Group: attack.Forgery, Title: "the command prints a perfect result of its own", Repo: attack.Tracked("f", "good\n"), Shares: true,
			Script: `echo evil > f
				echo '{"schema_version":"1.0","status":"success","summary":"all is well","files_changed":[],"tests":{"passed":true,"details":"12 passed"},"commands_run":[{"command":"npm test","exit_code":0}]}'
				exit 1`,
			Breached: func(s attack.Scene) string {
				if s.Result.Status == document.StatusSuccess || s.Result.Tests.Passed != nil && *s.Result.Tests.Passed || s.Result.Summary == "all is well" {
					return "the box's output became the result"
				}
				return attack.Missing(s, "f")
			},
		},
		{
			ID: "F07", Group: attack.Forgery, Title: "output that looks like the engine's frames", Shares: true,
			Script: `echo x > x; printf '\002\000\000\000\000\000\000\007FORGED\n\003\000\000\000\000\000\000\003err'; printf '\000\000\000\000\377\377\377\377'; exit 3`,
			Naive:  attack.Naive{Skip: "the engine's frames are sound without a terminal"},
			Breached: func(s attack.Scene) string {
				for _, c := range s.Result.CommandsRun {
					if strings.Contains(c.Command, "ID='F07'") && (strings.Contains(c.StderrExcerpt, "FORGED") || c.ExitCode == nil || *c.ExitCode != 3) {
						return "the box writes the engine's frames"
					}
				}
				return attack.Missing(s, "x")
			},
		},
		{
			ID: "F02", Group: attack.Forgery, Title: "the test is changed instead of the program", Script: wrong + `echo 'exit 0' > $ROOT/test.sh`,
			Task: func(task map[string]any) {
				accept(task, "sh test.sh")
				task["protected_paths"] = []string{"test.sh"}
			},
			Breached: approved,
		},
		forge("F02p", "programs of the system are replaced before the tests run", wrong+`for d in /usr/local/bin /usr/local/sbin $HOME/bin $HOME/.local/bin; do mkdir -p $d; printf '#!/bin/sh\nexit 0\n' > $d/grep; chmod +x $d/grep; done`,
			"grep -q '+' sum.sh"),
		forge("F02l", "a library is loaded before every program", wrong+`printf '#!/bin/sh\nexit 0\n' > /usr/bin/cmp; echo 'exit 0' > $HOME/.profile; mkdir -p /etc/profile.d; echo 'exit 0' > /etc/profile.d/x.sh; echo 'exit 0' > /etc/profile`,
			"sh -l -c 'grep -q + sum.sh'"),
		forge("F02g", "settings of git in the home directory change what the tests see", wrong+`git config --global alias.verify '!true'; git config --global core.pager cat`, "git verify"),
		forge("F02t", "a leftover in the temporary directory is taken for a measurement", wrong+`touch /tmp/passed $HOME/passed /dev/shm/passed /var/tmp/passed /run/passed`,
			"ls /tmp/passed $HOME/passed /dev/shm/passed /run/passed /var/tmp/passed 2>/dev/null | grep -q passed"),
		forge("F04s", "a background process answers for the service under test", wrong+`setsid perl -e 'use Socket; socket(S,PF_INET,SOCK_STREAM,0); setsockopt(S,SOL_SOCKET,SO_REUSEADDR,1); bind(S,sockaddr_in(18080,inet_aton("127.0.0.1"))) or die; listen(S,5); while (accept(C,S)) { print C "ok\n"; close C }' > /dev/null 2>&1 < /dev/null & sleep 0.5`,
			`perl -e 'use Socket; socket(S,PF_INET,SOCK_STREAM,0); connect(S,sockaddr_in(18080,inet_aton("127.0.0.1"))) or exit 1; exit(<S> eq "ok\n" ? 0 : 1)'`),
		forge("F04k", "a background process kills the test and reports that it passed",
			wrong+`setsid sh -c 'while :; do if [ -e /tmp/testing ]; then rm -f /tmp/testing; printf "echo 5\n" > /workspace/sum.sh; fi; done' > /dev/null 2>&1 < /dev/null & `,
			"touch /tmp/testing; sleep 1; sh test.sh"),
		{
			ID: "F04", Group: attack.Forgery, Title: "a background process changes the tree between test and landing", Repo: attack.Tracked("f", "good\n"),
			Script: `echo better > f; setsid sh -c 'while [ ! -e /tmp/accepted ]; do :; done; echo evil > /workspace/f04/f' > /dev/null 2>&1 < /dev/null & `,
			Task:   func(task map[string]any) { accept(task, "grep -q better f04/f && touch /tmp/accepted && sleep 0.3") },
			Breached: func(s attack.Scene) string {
				if got := s.Landed[s.Own("f")].Content; got != "better\n" {
					return fmt.Sprintf("%q landed untested", got)
				}
				return ""
			},
		},
		{
			ID: "T06", Group: attack.Forgery, Title: "an ignored file poisons the tests", Script: wrong + `mkdir -p $ROOT/ignored/bin; printf '#!/bin/sh\nexit 0\n' > $ROOT/ignored/bin/check; chmod +x $ROOT/ignored/bin/check`,
			Task: func(task map[string]any) {
				accept(task, "PATH=$PWD/ignored/bin:$PATH; if command -v check; then check; else sh test.sh; fi")
			},
			Breached: approved,
		},
		{
			ID: "F02h", Group: attack.Forgery, Title: "hooks and filters of the box's own repository poison the tests",
			Script:   wrong + `git config -f $ROOT/.git/config alias.verify '!true'; git config -f $ROOT/.git/config core.fsmonitor false`,
			Task:     func(task map[string]any) { accept(task, "git verify") },
			Breached: approved,
		},
		{
			ID: "F06", Group: attack.Forgery, Title: "everything in the box is killed before the tests end", Script: wrong + `kill -9 -1; exit 0`,
			Task:     func(task map[string]any) { accept(task, "sh test.sh") },
			Naive:    attack.Naive{Skip: "the counterpart's tests fail as well, with nothing forged"},
			Breached: approved,
		},
		{
			ID: "F11", Group: attack.Forgery, Title: "the tests ask the attacker's server for their answer", Repo: attack.Tracked("addresses", ""),
			Script: `for a in $ADDRS; do echo http://$a:$PORT/F11; done > addresses`,
			Task: func(task map[string]any) {
				accept(task, "for a in $(cat f11/addresses); do curl -s -m 2 --noproxy '*' $a | grep -q reached && exit 0; done; exit 1")
			},
			Breached: func(s attack.Scene) string {
				if r := s.Reached(); len(r) > 0 {
					return "the tests reached the host: " + r[0]
				}
				return approved(s)
			},
		},
	}
	attacks = append(append(append(attacks, around()), verification()...), inSetup()...)
	for i, a := range attacks {
		if a.ID != "F06" { // which kills itself too
			attacks[i] = attack.Proven(a)
		}
	}
	return attacks
}

// around tries every way around a constraint on paths at once; each has a directory and a constraint of its own.
func around() attack.Attack {
	ways := []string{"mode", "moved", "through", "kind", "commit", "hidden", "swap", "attr"}
	return attack.Attack{
		ID: "F08", Group: attack.Forgery, Title: "ways around a constraint: mode, rename, link, kind, commit, hidden, swap, attribute",
		Repo: func(_, own string) error {
			for _, w := range ways {
				if err := attack.WriteFile(filepath.Join(own, w, "a"), w+"\n", 0o644); err != nil {
					return err
				}
			}
			return attack.WriteFile(filepath.Join(own, "other/a"), "other\n", 0o644)
		},
		Script: `chmod +x mode/a; mv moved/a taken; ln -s through alias; echo evil > alias/a; rm kind/a; ln -s ../other/a kind/a
			echo evil > commit/a; git add commit; git -c user.name=a -c user.email=a@a commit -q -m x
			echo evil > hidden/a; git update-index --assume-unchanged hidden/a
			mv swap was; mv other swap; mv was other
			echo '* -diff' > attr/.gitattributes; echo evil > attr/a`,
		Task: func(task map[string]any) {
			var constraints []any
			for _, w := range ways {
				constraints = append(constraints, map[string]any{"kind": "paths_forbidden", "paths": []string{"f08/" + w + "/**"}})
			}
			task["constraints"] = constraints
		},
		Breached: func(s attack.Scene) string {
			for i, w := range ways {
				if i >= len(s.Result.Constraints) || s.Result.Constraints[i].Verdict != "fail" {
					return "a way around: " + w
				}
			}
			if s.Result.Status == document.StatusSuccess || !slices.ContainsFunc(s.Result.Issues, func(i document.Issue) bool { return i.Code == "constraint_violated" }) {
				return "the violation is not in the verdict"
			}
			return ""
		},
	}
}
