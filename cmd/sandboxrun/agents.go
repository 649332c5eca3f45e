package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/cmd/sandboxrun/image"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/catalog"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

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
			{
				Name:      "setup",
				Usage:     "show what agents lack before they can work, and how to get it",
				ArgsUsage: "[AGENT…]",
				Description: `Examples:
   sandboxrun agents setup
   sandboxrun agents setup codex`,
				Action: p.agentsSetup,
			},
			p.agentsCheckCommand(),
		},
	}
}

func (p *program) agentsList(c *cli.Context) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	views := []catalog.Agent{}
	rows := [][]string{}
	for _, a := range agents.All() {
		v := p.viewAgent(cfg, a.Info())
		views = append(views, v)
		rows = append(rows, []string{v.Name, v.Title, v.Version, orDash(v.Provider), yesNo(v.KeySet), string(v.Availability.Status)})
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(views)
	}
	return render.Table(p.stdout, []string{"AGENT", "TITLE", "VERSION", "PROVIDER", "KEY", "ON THIS HOST"}, rows)
}

func (p *program) agentsShow(c *cli.Context) error {
	name, err := oneArgument(c, "AGENT")
	if err != nil {
		return err
	}
	a, ok := agents.Lookup(name)
	if !ok {
		return &document.InputError{Message: fmt.Sprintf("no agent is called %q", name), Hint: "sandboxrun agents list"}
	}
	cfg, err := p.config()
	if err != nil {
		return err
	}
	v := p.viewAgent(cfg, a.Info())
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(v)
	}
	last := ""
	if v.Availability.LastLogin != nil {
		last = ", last login " + v.Availability.LastLogin.Format(time.RFC3339)
	}
	_, err = fmt.Fprintf(p.stdout, "%s (%s, executor %s)\npackage   %s %s\nprovider  %s, key set: %s\nproviders %s\nkeys      %s\nvariants  %s\nmcp       ~/%s, %s\nhost      %s%s\nsetup     %s\n",
		v.Title, v.Name, v.Executor, v.Package, v.Version, orDash(v.Provider), yesNo(v.KeySet), strings.Join(v.Providers, ", "), strings.Join(v.Secrets, ", "),
		strings.Join(v.Variants, ", "), v.MCPPath, v.MCPKey, v.Availability.Status, last, v.Setup)
	return err
}

// agentsSetup prints what each agent lacks; nothing when it is ready.
func (p *program) agentsSetup(c *cli.Context) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	chosen, err := image.ChooseAgents(c.Args().Slice())
	if err != nil {
		return err
	}
	for _, info := range chosen {
		v := p.viewAgent(cfg, info)
		state := "ready"
		if !v.KeySet {
			state = "needs a key: " + v.Setup
		}
		if _, err := fmt.Fprintf(p.stdout, "%-9s %s\n", v.Name, state); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) viewAgent(cfg config.Config, i agents.Info) catalog.Agent {
	return catalog.AgentOf(cfg, i, p.getenv)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
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
		return "", &document.InputError{
			Message: fmt.Sprintf("needs exactly one argument %s, got %d", what, c.NArg()),
			Hint:    "see \"" + c.Command.HelpName + " --help\"",
		}
	}
	return c.Args().First(), nil
}
