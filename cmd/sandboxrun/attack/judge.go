package attack

import (
	"path/filepath"
	"slices"
	"strings"
)

// Got returns what a script reports to have got, in lines that begin with "GOT "; the script prints the line "TRIED"
// at its end. This is the attacker's own claim, but a false one gains nothing. Against the program an attack that did
// not reach its end counts as a breach: what was not tried did not hold.
func Got(s Scene) string {
	var all []string
	tried := false
	for line := range strings.Lines(s.Output) {
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), "GOT "); ok {
			all = append(all, what)
		}
		tried = tried || strings.TrimSpace(line) == "TRIED"
	}
	if len(all) > 0 {
		return strings.Join(all[:min(len(all), 5)], "; ")
	}
	if !tried && !s.Naive {
		return "the attack was not made: its output is " + Tail(s.Output)
	}
	return ""
}

// GotBefore is Got for attacks that a limit may end early.
func GotBefore(s Scene) string {
	s.Output += "\nTRIED\n"
	return Got(s)
}

// Scripted makes an attack of a script that reports what it got; see Got.
func Scripted(id string, group Group, title, script string) Attack {
	return Attack{ID: id, Group: group, Title: title, Script: script + "\necho; echo TRIED", Breached: Got, Shares: true}
}

// InSentry lists what an attack may get under gVisor, by the beginnings of its lines: that kernel is gVisor's own,
// which has no privileges on the machine.
func (a Attack) InSentry(own ...string) Attack {
	judge := a.Breached
	a.Breached = func(s Scene) string {
		if s.Result.Box == nil || s.Result.Box.Runtime != "runsc" {
			return judge(s)
		}
		var rest strings.Builder
		for line := range strings.Lines(s.Output) {
			if !slices.ContainsFunc(own, func(what string) bool { return strings.HasPrefix(line, "GOT "+what) }) {
				rest.WriteString(line)
			}
		}
		s.Output = rest.String()
		return judge(s)
	}
	return a
}

// NaiveFlags adds flags of docker run to the naive counterpart.
func (a Attack) NaiveFlags(flags ...string) Attack {
	a.Naive.Flags = flags
	return a
}

// NoNaive sets why there is no naive counterpart.
func (a Attack) NoNaive(why string) Attack {
	a.Naive.Skip = why
	return a
}

// Tail quotes the end of an output.
func Tail(s string) string {
	s = strings.TrimSpace(s)
	return "\"" + s[max(0, len(s)-200):] + "\""
}

// Missing reports that the attack's own files did not land with their content.
func Missing(s Scene, names ...string) string {
	for _, n := range names {
		f, ok := s.Landed[s.Own(n)]
		if !ok || f.Mode == "160000" {
			return "the work in " + s.Own(n) + " is lost"
		}
		if s.Changed(s.Own(n)) == "" {
			return s.Own(n) + " changed and is not reported"
		}
	}
	return ""
}

// Tracked puts a file into the base.
func Tracked(name, content string) func(root, own string) error {
	return func(_, own string) error { return WriteFile(filepath.Join(own, name), content, 0o644) }
}

// Proven makes an attack leave a file at the end of its script, and requires it: an attack that was not made did not hold.
func Proven(a Attack) Attack {
	breached := a.Breached
	a.Script = "trap 'echo ran > $ROOT/" + strings.ToLower(a.ID) + "/ran' EXIT\n" + a.Script
	a.Breached = func(s Scene) string {
		if why := breached(s); why != "" || s.Naive {
			return why
		}
		return Missing(s, "ran")
	}
	return a
}

// Stuck reports that the host was stopped by the attack: it hung, or lost the work next to the trap.
func Stuck(s Scene) string {
	if s.Hung {
		return "the host hangs"
	}
	return Missing(s, "ok")
}

// SpecialFile makes an attack with a special file of the script's in the attack's directory, next to a file with work that must not be lost.
func SpecialFile(id, title, script string) Attack {
	return Attack{
		ID: id, Group: GitDoS, Title: title, Script: "echo ok > ok\n" + script, Repo: Tracked("f", "x\n"), Shares: true,
		Breached: func(s Scene) string {
			if why := Stuck(s); why != "" {
				return why
			}
			if s.Runtime == "runsc" {
				return "" // under gVisor they never become files of the host
			}
			for _, i := range s.Result.Issues {
				if i.Code == "special_file" && strings.HasPrefix(i.Path, s.Own()+"/") {
					return ""
				}
			}
			return "the special file is not reported"
		},
	}
}

// reached reports whether the attack reached the host's listener.
func reached(s Scene) string {
	if hits := s.Reached(); len(hits) > 0 {
		return "reached the host: " + strings.Join(hits[:min(len(hits), 3)], "; ")
	}
	return ""
}

// reachedOrGot is reached for scripts that also report what they got.
func reachedOrGot(s Scene) string {
	if what := reached(s); what != "" {
		return what
	}
	return Got(s)
}

// Reaching makes an attack that must reach the host's listener.
func Reaching(id, title, script string) Attack {
	a := Scripted(id, Network, title, script)
	a.Breached = reachedOrGot
	return a
}
