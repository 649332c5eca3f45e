package agents

import "encoding/json"

// Info describes an agent.
type Info struct {
	Name     string // short lower-case name, e.g. "claude"
	Executor string // profile name, e.g. "CLAUDE_CODE"
	Title    string // for people, e.g. "Claude Code"
	Package  string // npm package
	Version  string // pinned version of the package: the one place it is written
	Install  Install
	Binary   string // program in the box
	// Providers are the configured providers it can use, the preferred first;
	// Wires are the model APIs it can speak, likewise.
	Providers []string
	Wires     []Wire
	Secrets   []string // environment variables a key usually lives in on the host
	MCPPath   string   // where the CLI reads MCP servers, below HOME
	MCPKey    string   // and below which key of that file
	Setup     string   // one sentence: how a person gets it ready on the host
	// Logins are files below HOME that exist on a host where somebody is logged
	// in; Traces are paths there that exist where the CLI was ever used.
	Logins []string
	Traces []string
	// Keep lists what below HOME holds the conversation, and so has to be there
	// again in the box of the next turn. The CLI's cache and logs are not in it.
	Keep []string
	// Options are the fields of its profile beyond the ones every agent has;
	// Variants are its built-in profiles beside DEFAULT, PLAN and SUPERVISED.
	Options  []Option
	Variants map[string]Settings
}

// Install says how the image gets an agent beyond its npm package.
type Install struct {
	// Packages are further npm packages, name@version, in the same layer.
	Packages []string
	// Script runs as root in sh after npm has installed Package below $PREFIX
	// (its programs are in $PREFIX/bin). It leaves what the image keeps below
	// $OUT, which is copied over the image's root. "" keeps the installed tree
	// and links Binary in /usr/local/bin to the program npm linked.
	Script string
}

// Wire is a model API an agent can speak.
type Wire string

// Wires, as the configuration of providers names them.
const (
	WireAnthropicMessages Wire = "anthropic-messages"
	WireOpenAIResponses   Wire = "openai-responses"
	WireOpenAIChat        Wire = "openai-chat"
	WireGoogleGenerate    Wire = "google-generate"
)

// Settings are fields of one profile, by name.
type Settings map[string]json.RawMessage

// Option is one field of an agent's profile.
type Option struct {
	Name   string
	Type   OptionType
	Values []string // allowed values of an OptionString, any when empty
	// ReadOnly and Ask list values ("true" for a boolean) with which a turn is a
	// read-only one, or one whose tool calls a person decides.
	ReadOnly, Ask []string
	Help          string // one sentence
}

// OptionType is the JSON type of an option.
type OptionType string

// Types of options.
const (
	OptionBool    OptionType = "boolean"
	OptionString  OptionType = "string"
	OptionStrings OptionType = "strings" // an array of strings
)

// Bool is the value of a boolean field, false where it is not set. Values were
// checked against the agent's options when the profile was read.
func (s Settings) Bool(name string) bool {
	var v bool
	return json.Unmarshal(s[name], &v) == nil && v
}

// String is the value of a string field, "" where it is not set.
func (s Settings) String(name string) string {
	var v string
	if json.Unmarshal(s[name], &v) != nil {
		return ""
	}
	return v
}

// Strings is the value of a field of strings, nil where it is not set.
func (s Settings) Strings(name string) []string {
	var v []string
	if json.Unmarshal(s[name], &v) != nil {
		return nil
	}
	return v
}
