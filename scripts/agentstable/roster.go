package main

import (
	"fmt"
	"strings"

	"sandboxrun/agents"
	_ "sandboxrun/agents/all" // the agents register themselves
	"sandboxrun/internal/wire"
	"sandboxrun/scripts/marked"
)

// The parts of the document that are generated from agents.Info.
var (
	rosterPart = marked.Part{
		Begin: "<!-- list of agents: made by scripts/agentstable from agents.Info -->",
		End:   "<!-- end of the list of agents -->",
	}
	limitsPart = marked.Part{
		Begin: "<!-- limits of agents: made by scripts/agentstable from agents.Info -->",
		End:   "<!-- end of the limits of agents -->",
	}
)

// wireTitles are the names of model APIs for people.
var wireTitles = map[wire.Wire]string{
	wire.AnthropicMessages: "Anthropic Messages",
	wire.OpenAIResponses:   "OpenAI Responses",
	wire.OpenAIChat:        "OpenAI Chat Completions",
	wire.GoogleGenerate:    "Gemini",
}

// roster is the table of the agents: name, program, protocol, model APIs.
func roster() string {
	var b strings.Builder
	b.WriteString("| agent | program | how it is driven | model API |\n|---|---|---|---|\n")
	for _, a := range agents.All() {
		i := a.Info()
		var apis []string
		for _, w := range i.Wires {
			apis = append(apis, wireTitles[w])
		}
		api := strings.Join(apis, ", ")
		if i.Remark != "" {
			api += "; " + i.Remark
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", i.Name, i.Title, i.Protocol, api)
	}
	b.WriteString("| `acp:COMMAND LINE` | any agent of the Agent Client Protocol that the box's image contains | Agent Client Protocol | the first one that the chosen provider serves |\n")
	return b.String()
}

// limits lists the limits of single programs.
func limits() string {
	var b strings.Builder
	for _, a := range agents.All() {
		i := a.Info()
		for _, l := range i.Limits {
			fmt.Fprintf(&b, "- %s: %s\n", i.Title, l)
		}
	}
	return b.String()
}

// updateRoster writes both parts of the document, or compares them.
func updateRoster(document string, check bool) error {
	for _, p := range []struct {
		part marked.Part
		text string
	}{{rosterPart, roster()}, {limitsPart, limits()}} {
		if err := p.part.Update(document, p.text, check); err != nil {
			return fmt.Errorf("the list of agents: %w: run scripts/agents-table", err)
		}
	}
	return nil
}
