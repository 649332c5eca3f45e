package selftest

import (
	"encoding/json"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/probe"
)

// picture is the attack that only inspects: it lists what container escape tools look for first. It is held where the
// box looks as one on its runtime should.
func picture() attack.Attack {
	return attack.Attack{
		ID: "C15", Group: attack.Container, Title: "find anything unexpected in the box",
		Script: `for a in $ADDRS; do set -- "$@" --reach $a:$PORT; done
cd $ROOT; unset ADDRS CANARY ID KEY OUT PORT PWN ROOT OLDPWD a
/.sandboxrun/guest look "$@"; exit $?`,
		Naive: attack.Naive{Skip: "it has no expected picture"},
		Skip: func(w attack.Where) string {
			if _, ok := probe.Expected(w.Runtime, false); w.Runtime != "" && !ok {
				return "there is no expected picture of a box on " + w.Runtime
			}
			return ""
		},
		Breached: func(s attack.Scene) string {
			var v probe.View
			if err := json.Unmarshal([]byte(strings.TrimSpace(s.Output)), &v); err != nil {
				return "inspect the box: " + err.Error()
			}
			if s.Result.Box == nil {
				return "no box was made"
			}
			want, ok := probe.Expected(s.Result.Box.Runtime, s.Result.Box.Tier == string(sandbox.TierUserns))
			if !ok {
				return "there is no expected picture of such a box"
			}
			diff := probe.Compare(want, v.Picture(probe.ThisMachine()))
			return strings.Join(diff[:min(len(diff), 12)], "; ")
		},
	}
}
