package agents

// Stable issue codes of turns that did not end clean.
const (
	codeAuth     = "agent_auth"      // the provider refuses the key
	codeQuota    = "agent_quota"     // the provider's limit or the account's credit is used up
	codeCrashed  = "agent_crashed"   // the CLI ended without a result and with an error
	codeNoResult = "agent_no_result" // no result: the CLI left quietly, fell silent, or was stopped
	codeFailed   = "agent_failed"    // the CLI reports itself that the turn failed
)
