package agents

// codexOptions are the fields of a Codex profile.
var codexOptions = []Option{
	{Name: "sandbox", Type: OptionString, Values: []string{"read-only", "workspace-write", "danger-full-access"}, ReadOnly: []string{"read-only"},
		Help: "what the agent may write; the box is the boundary in any case, and read-only mounts the tree that way"},
	{Name: "ask_for_approval", Type: OptionString, Values: []string{codexUntrusted, "on-request", "never"},
		Help: "when the agent asks: before everything (untrusted, the default), when it thinks it should, or never"},
	{Name: "oss", Type: OptionBool, Help: "accepted and ignored: a box has no local model"},
	{Name: "model_reasoning_effort", Type: OptionString, Help: "how long the model thinks, for example low, medium or high"},
	{Name: "model_reasoning_summary", Type: OptionString, Values: []string{"auto", "concise", "detailed", "none"},
		Help: "how much of its thinking the model tells"},
	{Name: "profile", Type: OptionString, Help: "accepted and ignored: a box does not see the profiles of the user's configuration"},
	{Name: "base_instructions", Type: OptionString, Help: "instructions in place of the agent's own"},
}

// codexUntrusted is the approval policy under which everything is asked.
const codexUntrusted = "untrusted"

// codexPolicy is when Codex asks.
func codexPolicy(s Settings) string {
	if v := s.String("ask_for_approval"); v != "" {
		return v
	}
	return codexUntrusted
}

// codexIgnored says which fields of the profile have no meaning in a box.
func codexIgnored(s Settings) (notes []string) {
	if s.Bool("oss") {
		notes = append(notes, "the profile's oss is ignored: there is no local model in the box")
	}
	if s.String("profile") != "" {
		notes = append(notes, "the profile's profile is ignored: the user's Codex configuration is not in the box")
	}
	return notes
}
