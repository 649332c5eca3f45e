package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/runner"
)

// agentView is what agents list and agents show print.
type agentView struct {
	Name     string   `json:"name"`
	Executor string   `json:"executor"`
	Title    string   `json:"title"`
	Package  string   `json:"package"`
	Version  string   `json:"version"` // pinned: what "image build" installs
	Provider string   `json:"provider"`
	Secrets  []string `json:"secrets"` // environment variables a key usually lives in
	KeySet   bool     `json:"key_set"` // a key is configured for the provider
	Setup    string   `json:"setup"`
}

func (p *program) agentsCommand() *cli.Command {
	return &cli.Command{
		Name:  "agents",
		Usage: "list the agents this program can drive",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list every agent",
				Description: `Examples:
   sandboxrun agents list
   sandboxrun agents list --json`,
				Flags:  []cli.Flag{jsonFlag},
				Action: p.agentsList,
			},
			{
				Name:      "show",
				Usage:     "show one agent and how to get it ready",
				ArgsUsage: "AGENT",
				Description: `Examples:
   sandboxrun agents show claude`,
				Flags:  []cli.Flag{jsonFlag},
				Action: p.agentsShow,
			},
		},
	}
}

func (p *program) agentsList(c *cli.Context) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	views := []agentView{}
	rows := [][]string{}
	for _, a := range agents.All() {
		v := p.viewAgent(cfg, a.Info())
		views = append(views, v)
		rows = append(rows, []string{v.Name, v.Title, v.Version, v.Provider, yesNo(v.KeySet)})
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(views)
	}
	return table(p.stdout, []string{"AGENT", "TITLE", "VERSION", "PROVIDER", "KEY"}, rows)
}

func (p *program) agentsShow(c *cli.Context) error {
	name, err := oneArgument(c, "AGENT")
	if err != nil {
		return err
	}
	a, ok := agents.Lookup(name)
	if !ok {
		return &runner.InputError{Message: fmt.Sprintf("no agent is called %q", name), Hint: "sandboxrun agents list"}
	}
	cfg, err := p.config()
	if err != nil {
		return err
	}
	v := p.viewAgent(cfg, a.Info())
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(v)
	}
	_, err = fmt.Fprintf(p.stdout, "%s (%s, executor %s)\npackage   %s %s\nprovider  %s, key set: %s\nkeys      %s\nsetup     %s\n",
		v.Title, v.Name, v.Executor, v.Package, v.Version, v.Provider, yesNo(v.KeySet), strings.Join(v.Secrets, ", "), v.Setup)
	return err
}

// viewAgent tells whether a key is there; what it is never leaves the runner.
func (p *program) viewAgent(cfg runner.Config, i agents.Info) agentView {
	_, err := cfg.Providers[i.Provider].Key(p.getenv)
	return agentView{
		Name: i.Name, Executor: i.Executor, Title: i.Title, Package: i.Package, Version: i.Version,
		Provider: i.Provider, Secrets: i.Secrets, KeySet: err == nil, Setup: i.Setup,
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// oneArgument returns the only positional argument of a command.
func oneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 || c.Args().First() == "" {
		return "", &runner.InputError{
			Message: fmt.Sprintf("needs exactly one argument %s, got %d", what, c.NArg()),
			Hint:    "see \"" + c.Command.HelpName + " --help\"",
		}
	}
	return c.Args().First(), nil
}
