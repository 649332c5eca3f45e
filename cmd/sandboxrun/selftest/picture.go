package selftest

import (
	"encoding/json"
	"strings"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/probe"
)

// picture is the attack that only looks: what tools for getting out of containers list first. It is held where the box looks as
// one on its runtime should.
func picture() attack.Attack {
	return attack.Attack{
		ID: "C15", Group: attack.Container, Title: "find anything in the box that should not be there",
		Script: `for a in $ADDRS; do set -- "$@" --reach $a:$PORT; done
cd $ROOT; unset ADDRS CANARY ID KEY OUT PORT PWN ROOT OLDPWD a
/.sandboxrun/guest look "$@"; exit $?`,
		Naive: attack.Naive{Skip: "there is no expected picture of it"},
		Skip: func(w attack.Where) string {
			if _, ok := probe.Expected(w.Runtime, false); w.Runtime != "" && !ok {
				return "nobody has said how a box on " + w.Runtime + " should look"
			}
			return ""
		},
		Breached: func(s attack.Scene) string {
			var v probe.View
			if err := json.Unmarshal([]byte(strings.TrimSpace(s.Output)), &v); err != nil {
				return "the box could not be looked at: " + err.Error()
			}
			if s.Result.Box == nil {
				return "no box was made"
			}
			want, ok := probe.Expected(s.Result.Box.Runtime, s.Result.Box.Tier == string(sandbox.TierUserns))
			if !ok {
				return "nobody has said how such a box should look"
			}
			diff := probe.Compare(want, v.Picture(probe.ThisMachine()))
			return strings.Join(diff[:min(len(diff), 12)], "; ")
		},
	}
}
