package agents

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"sandboxrun/internal/wire"
)

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
	Wires     []wire.Wire
	// Models are those that the program asks for where the user names none, Helpers those that it asks besides, for
	// titles and summaries; a * stands for any text. Without Models an unnamed model may be any. Aliases are names that
	// the program itself translates to one of the models behind them.
	Models  []string
	Helpers []string
	Aliases map[string][]string
	Secrets []string // environment variables a key usually lives in on the host
	MCPPath string   // where the CLI reads MCP servers, below HOME
	MCPKey  string   // and below which key of that file
	Setup   string   // one sentence: how a person gets it ready on the host
	// Protocol says how it is driven, Remark what a reader of its row in the table
	// of agents has to know of its model APIs, Limits what it cannot do or cannot
	// be kept from: sentences for people, Remark and Limits may be empty.
	Protocol string
	Remark   string
	Limits   []string
	// EnvPrefixes begin the environment variables that configure it. A task
	// cannot set any of those.
	EnvPrefixes []string
	// Obeys lists what of a repository the program takes instructions, settings
	// or programs from where nothing keeps it from that, in the form of the paths
	// of a hazard: "name" and "name/" anywhere, "/a/b" from the root.
	Obeys []string
	// Vendor is a provider that only this agent has, nil for none.
	Vendor *Vendor
	// Logins are files below HOME that exist on a host where somebody is logged
	// in; Traces are paths there that exist where the CLI was ever used.
	Logins []string
	Traces []string
	// Keep lists what below HOME holds the conversation, and so has to be there
	// again in the box of the next turn. The CLI's cache and logs are not in it.
	Keep []string
	// Options are the fields of its profile beyond the ones every agent has;
	// Variants are its built-in profiles next to DEFAULT, PLAN and SUPERVISED.
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

// Vendor is the API an agent uses as its vendor's own, which nobody else has an
// address of: it is nothing until the user configures a base URL for it.
type Vendor struct {
	Name   string // of the provider, one of Info.Providers
	KeyEnv string // variable of the host that holds its key
	Wires  []wire.Wire
}

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

// keepOption is the field of a profile that adds to Info.Keep, for agents about
// which it is not known what they keep.
const keepOption = "keep"

// Kept lists what below HOME has to be there again in the box of the next turn:
// Info.Keep, and what the profile adds where the agent has a field for that.
// Paths of the profile that do not stay below HOME are left out.
func Kept(i Info, s Settings) []string {
	list := slices.Clone(i.Keep)
	if !slices.ContainsFunc(i.Options, func(o Option) bool { return o.Name == keepOption && o.Type == OptionStrings }) {
		return list
	}
	for _, p := range s.Strings(keepOption) {
		clean := path.Clean(p)
		if p == "" || path.IsAbs(p) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(p, "\n\x00") {
			continue
		}
		list = append(list, clean)
	}
	return list
}
