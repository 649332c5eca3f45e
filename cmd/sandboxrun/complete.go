package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/cmd/sandboxrun/usage"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the script with which a shell completes command lines",
		ArgsUsage: "SHELL",
		Description: `For bash, zsh or fish; "man" prints the manual page of all commands instead. "make
install" installs them.

Examples:
   sandboxrun completion bash
   sandboxrun completion zsh > _sandboxrun
   sandboxrun completion man > sandboxrun.1`,
		Action: func(c *cli.Context) error {
			shell, err := oneArgument(c, "SHELL")
			if err != nil {
				return err
			}
			script := usage.Script
			if shell == "man" {
				script = func(string) (string, error) { return usage.Manual(p.app()) }
			}
			text, err := script(shell)
			if err != nil {
				return err
			}
			_, err = io.WriteString(p.stdout, text)
			return err
		},
	}
}

// suggest lists what may follow on a command line that ends in cmd.
func (p *program) suggest(cmd *cli.Command) cli.BashCompleteFunc {
	return func(*cli.Context) { usage.Suggest(p.stdout, cmd, p.words, p.values()) }
}

// values are what flags and arguments can be here. What cannot be read is left out: a shell shows no errors.
func (p *program) values() usage.Values {
	fixed := func(list ...string) func() []string { return func() []string { return list } }
	return usage.Values{
		"RUN": p.runNames, "SHELL": fixed("bash", "zsh", "fish", "man"), "SESSION": p.sessionNames, "AGENT": agentNames, "NAME": agentNames,
		"--agent": agentNames, "--variant": p.variantNames, "--status": fixed(runStatuses...), "--retry": p.runNames, "--session": p.sessionNames,
		"--land": fixed(string(document.LandBranch), string(document.LandNone)), "--approve": fixed("auto", "ask", "deny"),
	}
}

func agentNames() []string {
	var names []string
	for _, a := range agents.All() {
		names = append(names, a.Info().Name)
	}
	return names
}

func (p *program) variantNames() []string {
	cfg, err := p.config()
	if err != nil {
		cfg = config.Default()
	}
	var names []string
	seen := map[string]bool{}
	for _, a := range agents.All() {
		for _, v := range cfg.Profiles.Variants(a.Info()) {
			if !seen[v] {
				seen[v] = true
				names = append(names, v)
			}
		}
	}
	return names
}

// mostSuggested bounds the runs that are suggested.
const mostSuggested = 100

func (p *program) sessionNames() []string {
	st, err := p.state()
	if err != nil {
		return nil
	}
	list, err := st.Sessions()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range list[:min(mostSuggested, len(list))] {
		names = append(names, s.ID)
	}
	return names
}

func (p *program) runNames() []string {
	st, err := p.state()
	if err != nil {
		return nil
	}
	ids, err := st.RunIDs()
	if err != nil || len(ids) == 0 {
		return nil
	}
	return append([]string{state.Newest}, ids[:min(mostSuggested, len(ids))]...)
}
