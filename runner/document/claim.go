package document

// Claim is one thing that the agent says it ran or passed, beside what the runner measured of the same. It is never evidence.
type Claim struct {
	Source   string `json:"source"`            // tool_call or final_message
	Text     string `json:"text"`              // the agent's words, bounded
	Command  string `json:"command,omitempty"` // the measured command that it is about; missing for tests in general
	Says     string `json:"says"`              // passed, failed or ran
	Measured string `json:"measured"`          // passed, failed or unmeasured
	ExitCode *int   `json:"exit_code"`         // measured; null when unknown
	Agrees   *bool  `json:"agrees"`            // whether both say the same; null where one of them says nothing of it
}

// Values of a claim.
const (
	ClaimOfTool    = "tool_call"
	ClaimOfMessage = "final_message"

	ClaimPassed     = "passed"
	ClaimFailed     = "failed"
	ClaimRan        = "ran"
	ClaimUnmeasured = "unmeasured"
)

// Compared is the claim with what follows from both sides of it.
func (c Claim) Compared() Claim {
	c.Agrees = nil
	if c.Says != ClaimRan && c.Measured != ClaimUnmeasured {
		same := c.Says == c.Measured
		c.Agrees = &same
	}
	return c
}
