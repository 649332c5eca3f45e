package table

import (
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/runner/document"
)

// lintAttack is a change whose first criterion runs a file of the change, which prepares the second criterion.
func lintAttack(id, title, lint, second string) attack.Attack {
	own := strings.ToLower(id)
	return attack.Attack{
		ID: id, Group: attack.Forgery, Title: title, Repo: attack.Tracked("lint.sh", "exit 0\n"),
		Script: `echo 'echo wrong' > $ROOT/sum.sh; cat > lint.sh <<'END'
` + lint + `
exit 0
END
`,
		Task: func(task map[string]any) {
			task["acceptance_criteria"] = []any{map[string]any{"command": "sh " + own + "/lint.sh"}, map[string]any{"command": second}}
		},
		Breached: func(s attack.Scene) string {
			if s.Result.Status == document.StatusSuccess {
				return "the first criterion decided the second"
			}
			return ""
		},
	}
}

// verification lists attacks in which one command of the verification works for the next one.
func verification() []attack.Attack {
	const mended = `echo "echo 5" > /workspace/sum.sh`
	return []attack.Attack{
		lintAttack("F12", "the first criterion rewrites the program that the second tests", mended, "sh test.sh"),
		lintAttack("F12t", "the first criterion rewrites the test that the second runs", `echo 'exit 0' > /workspace/test.sh`, "sh test.sh"),
		lintAttack("F12d", "the first criterion leaves a process that rewrites the program",
			`setsid sh -c 'while :; do `+mended+`; sleep 0.01; done' > /dev/null 2>&1 < /dev/null & sleep 0.2`, "sh test.sh"),
		lintAttack("F12h", "the first criterion leaves settings of git in the home directory", `git config --global alias.verify '!true'`, "git verify"),
		lintAttack("F12g", "the first criterion leaves settings in the box's own repository", `git config -f /workspace/.git/config alias.verify '!true'`, "git verify"),
		lintAttack("F12p", "the first criterion leaves programs in directories of PATH",
			`for d in $HOME/bin $HOME/.local/bin /usr/local/bin /workspace/node_modules/.bin; do mkdir -p $d; printf '#!/bin/sh\nexit 0\n' > $d/check; chmod +x $d/check; done 2>/dev/null`,
			"PATH=$HOME/bin:$HOME/.local/bin:$PWD/node_modules/.bin:$PATH; check"),
		lintAttack("F12b", "the first criterion leaves start files of shells and package managers",
			`echo 'exit 0' | tee $HOME/.profile $HOME/.bashrc $HOME/.bash_profile > /dev/null; echo 'script-shell=/bin/true' > $HOME/.npmrc`, "sh -l -c 'sh test.sh'"),
		lintAttack("F12m", "the first criterion leaves files in temporary directories",
			`touch /tmp/passed /dev/shm/passed /run/passed /var/tmp/passed 2>/dev/null`,
			"ls /tmp/passed /dev/shm/passed /run/passed /var/tmp/passed 2>/dev/null | grep -q passed"),
	}
}
