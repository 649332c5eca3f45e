package runner

import (
	"fmt"
	"net"
	"regexp"
	"strings"

	"sandboxrun/runner/document"
)

// cause is something of the machine, rather than of the change, that a command failed of. The box's own words tell it, so it decides no
// verdict: only how the issue is classed, and what is suggested.
type cause struct {
	what   string // begins with a separator; "" for none that is known
	action string
}

// What programs say when a machine does not give them what they need.
var (
	noMemory = regexp.MustCompile(`(?m)heap out of memory|[Cc]annot allocate memory|^(?:/bin/)?(?:sh|bash|dash): .*Killed|^Killed$|: out of memory$`)
	noSpace  = regexp.MustCompile(`(?m)[Nn]o space left on device|[Dd]isk quota exceeded|^ENOSPC`)
)

// causeOf looks for what a command failed of. tested says that a test runner reported red tests: then they are the reason. refused are
// the hosts and ports that the runner did not let the boxes reach.
func causeOf(c document.CommandRun, tested bool, image string, refused []string) cause {
	const killed = 137 // SIGKILL
	if c.ExitCode == nil || *c.ExitCode == 0 || tested {
		return cause{}
	}
	if missing := missingProgram(c, image); missing != "" {
		return cause{missing, "name an image that has the program in box.image, or install it with setup_commands"}
	}
	said := c.StderrExcerpt + "\n" + c.StdoutExcerpt
	for _, name := range refused {
		host, _, err := net.SplitHostPort(name)
		if err != nil {
			host = name
		}
		if host != "" && strings.Contains(said, host) {
			return cause{fmt.Sprintf("; it names the host %s, which no box may reach", host),
				fmt.Sprintf("have setup_commands fetch what it needs, with %q in box.network.allow: the verification itself has no network", host)}
		}
	}
	switch {
	case *c.ExitCode == killed, noMemory.MatchString(said):
		return cause{"; it seems to have had too little memory", "raise box.memory"}
	case noSpace.MatchString(said):
		return cause{"; it seems to have had too little space", "raise box.disk, or limits.temp in the configuration for what it writes to /tmp and HOME"}
	}
	return cause{}
}

// of classes an issue by what a command failed of.
func (f found) of(c cause) found {
	if c.what == "" {
		return f
	}
	f.Type = document.IssueEnv
	return f.withAction(c.action)
}
