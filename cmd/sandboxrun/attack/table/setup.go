package table

import (
	"context"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/runner/document"
)

// callOut is a script that asks the host's listener for the attack's ID, by the proxy that set-up has and directly.
const callOut = `for a in localhost $ADDRS; do
	curl -s -m 2 --noproxy '' -x \${HTTP_PROXY:-http://127.0.0.1:1} http://\$a:$PORT/$ID
	curl -s -m 2 --noproxy '*' http://\$a:$PORT/$ID
done > /dev/null 2>&1; true`

// setupAttack is a change of a file that set-up runs. The box's host is on the allow-list of set-up.
func setupAttack(id, title, file, before, command, script string) attack.Attack {
	return attack.Attack{
		ID: id, Group: attack.Forgery, Title: title, Repo: attack.Tracked(file, before), Script: script,
		Task: func(task map[string]any) {
			task["setup_commands"] = []any{command}
			task["acceptance_criteria"] = []any{map[string]any{"command": "true"}}
		},
		Host: func(_ context.Context, h *attack.Host) error {
			h.Flags = append(h.Flags, "--allow-host", "localhost:"+h.Port)
			h.Config = map[string]any{"box": map[string]any{"network": map[string]any{"allow_private": true}}}
			return nil
		},
		Breached: func(s attack.Scene) string {
			if r := s.Reached(); len(r) > 0 {
				return "code of the change has the network of set-up: " + r[0]
			}
			return ""
		},
	}
}

func inSetup() []attack.Attack {
	forged := setupAttack("F13f", "a changed set-up script makes the program that judges the change", "setup.sh",
		"mkdir -p ignored; echo 'sh /workspace/test.sh' > ignored/check\n", "sh f13f/setup.sh",
		`echo 'echo wrong' > $ROOT/sum.sh; echo 'mkdir -p ignored; echo exit 0 > ignored/check' > setup.sh`)
	forged.Task = func(task map[string]any) {
		task["setup_commands"] = []any{"sh f13f/setup.sh"}
		task["acceptance_criteria"] = []any{map[string]any{"command": "sh ignored/check"}}
	}
	forged.Breached = func(s attack.Scene) string {
		if s.Result.Status == document.StatusSuccess {
			return "the change judged itself"
		}
		return ""
	}
	return []attack.Attack{
		setupAttack("F13", "a changed set-up script calls out during the verification", "setup.sh", "exit 0\n", "sh f13/setup.sh",
			"cat > setup.sh <<END\n"+callOut+"\nEND\n"),
		setupAttack("F13p", "a changed package manifest calls out when it is installed", "package.json", `{"name":"f13p","version":"1.0.0"}`,
			"cd f13p && npm install --offline --no-audit --no-fund",
			"cat > call.sh <<END\n"+callOut+"\nEND\n"+`echo '{"name":"f13p","version":"1.0.0","scripts":{"postinstall":"sh ./call.sh"}}' > package.json`),
		forged,
	}
}
