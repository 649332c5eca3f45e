package attack

import (
	"slices"
	"strings"
)

// A script of the groups here says itself what it got, in lines that begin with "GOT ", and that it was made at all, in one that
// is "TRIED". It is a claim of the attacker's, but one nobody gains from making falsely.

// got says what an attack got by its own word. Against the program an attack that was not made to its end counts as one too:
// nothing is held that was not tried.
func got(s Scene) string {
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
		return "the attack was not made: its output is " + tail(s.Output)
	}
	return ""
}

// gotBefore is got for attacks that a limit may end before they are made to their end.
func gotBefore(s Scene) string {
	s.Output += "\nTRIED\n"
	return got(s)
}

// tell makes an attack of a script that says what it got.
func tell(id string, group Group, title, script string) Attack {
	return Attack{ID: id, Group: group, Title: title, Script: script + "\necho; echo TRIED", Breached: got, Shares: true}
}

// inSentry names what an attack may get under gVisor, by the beginnings of what it says: there the kernel it gets it of is
// gVisor's own, a program without privileges for the machine.
func (a Attack) inSentry(own ...string) Attack {
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

// quick makes an attack part of the self-test.
func (a Attack) quick() Attack {
	a.Quick = true
	return a
}

// with adds flags of docker run to the naive counterpart.
func (a Attack) with(flags ...string) Attack {
	a.Naive.Flags = flags
	return a
}

// naiveless says why there is no naive counterpart.
func (a Attack) naiveless(why string) Attack {
	a.Naive.Skip = why
	return a
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return "\"" + s[max(0, len(s)-200):] + "\""
}
