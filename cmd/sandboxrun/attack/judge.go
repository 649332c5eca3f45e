package attack

import (
	"path/filepath"
	"slices"
	"strings"
)

// Got says what a script says it got, in lines that begin with "GOT "; it prints the line "TRIED" when it was made to its end. This
// is the attacker's own claim, but nobody gains from making it falsely. Against the program an attack that was not made to its end
// counts as a breach: nothing held that was not tried.
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

// GotBefore is Got for attacks that a limit may end before they are made to their end.
func GotBefore(s Scene) string {
	s.Output += "\nTRIED\n"
	return Got(s)
}

// Scripted makes an attack of a script that says what it got; see Got.
func Scripted(id string, group Group, title, script string) Attack {
	return Attack{ID: id, Group: group, Title: title, Script: script + "\necho; echo TRIED", Breached: Got, Shares: true}
}

// InSentry names what an attack may get under gVisor, by the beginnings of its lines: the kernel it gets that from is gVisor's own,
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

// NoNaive says why there is no naive counterpart.
func (a Attack) NoNaive(why string) Attack {
	a.Naive.Skip = why
	return a
}

// Tail quotes the end of an output.
func Tail(s string) string {
	s = strings.TrimSpace(s)
	return "\"" + s[max(0, len(s)-200):] + "\""
}

// Missing says that files of the attack's own did not land with what was in them.
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

// Proven makes an attack leave a file when its script has ended, and asks for it: what was not made did not hold.
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

// Stuck says that the host did not get through with it: it hung, or the work beside the trap is lost.
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
				return "" // there they never become files of the host
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

// reached says whether the host's listener saw the attack.
func reached(s Scene) string {
	if hits := s.Reached(); len(hits) > 0 {
		return "reached the host: " + strings.Join(hits[:min(len(hits), 3)], "; ")
	}
	return ""
}

// reachedOrGot is reached for scripts that say something too.
func reachedOrGot(s Scene) string {
	if what := reached(s); what != "" {
		return what
	}
	return Got(s)
}

// Reaching makes an attack that has to get to the host's listener.
func Reaching(id, title, script string) Attack {
	a := Scripted(id, Network, title, script)
	a.Breached = reachedOrGot
	return a
}
