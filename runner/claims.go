package runner

import (
	"strings"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/reading"
)

// Bounds of what is looked at of an agent's words.
const (
	maxClaims    = 50
	maxClaimLine = 500 // bytes of one line that are looked at
	maxClaimText = 256 << 10
)

// claimsOf puts what the agent says it ran or passed beside what was measured. It decides nothing.
func claimsOf(e evidence, tests document.Tests) []document.Claim {
	list := []document.Claim{}
	add := func(c document.Claim) {
		if len(list) < maxClaims {
			list = append(list, c)
		}
	}
	for _, c := range e.commands {
		if c.Source != "agent" {
			continue
		}
		says := document.ClaimRan
		if c.ExitCode != nil {
			says = document.ClaimFailed
			if *c.ExitCode == 0 {
				says = document.ClaimPassed
			}
		}
		if v := mentioned(e.verified, c.Command); v != nil {
			add(claim(document.ClaimOfTool, excerpt.Clip(c.Command, maxClaimLine), says, v))
		}
	}
	if e.outcome == nil {
		return list
	}
	for line := range strings.Lines(excerpt.Clip(e.outcome.Claim, maxClaimText)) {
		line = excerpt.Clip(strings.TrimSpace(line), maxClaimLine)
		says := reading.Said(line)
		v := mentioned(e.verified, line)
		switch {
		case says == "":
		case v != nil:
			add(claim(document.ClaimOfMessage, line, says, v))
		case says != document.ClaimRan && reading.OfTests(line):
			c := document.Claim{Source: document.ClaimOfMessage, Text: line, Says: says, Measured: document.ClaimUnmeasured}
			if tests.Passed != nil {
				c.Measured = document.ClaimFailed
				if *tests.Passed {
					c.Measured = document.ClaimPassed
				}
			}
			add(c.Compared())
		}
	}
	return list
}

// mentioned is the longest measured command whose text stands in words, nil for none.
func mentioned(verified []verifyOutcome, words string) (best *verifyOutcome) {
	for i, v := range verified {
		if strings.Contains(words, v.Command) && (best == nil || len(v.Command) > len(best.Command)) {
			best = &verified[i]
		}
	}
	return best
}

// claim compares what is said of a command with what was measured of it.
func claim(source, text, says string, v *verifyOutcome) document.Claim {
	c := document.Claim{Source: source, Text: text, Command: v.Command, Says: says, Measured: document.ClaimUnmeasured, ExitCode: v.run.ExitCode}
	if v.run.ExitCode != nil {
		c.Measured = document.ClaimFailed
		if v.passed() {
			c.Measured = document.ClaimPassed
		}
	}
	return c.Compared()
}
