package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/cmd/sandboxrun/image"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/catalog"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

func (p *program) profilesCommand() *cli.Command {
	return &cli.Command{
		Name:  "profiles",
		Usage: "list the variants in which agents run",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list every variant of every agent",
				Description: `A task chooses a variant with agent.variant, a caller with --variant. Built-in
variants can be changed field by field, and others added, in profiles.json next to
the configuration: {"executors":{"CLAUDE_CODE":{"DEFAULT":{"model":"…"}}}}

Examples:
   sandboxrun profiles list
   sandboxrun profiles list --json`,
				Flags:  []cli.Flag{jsonFlag},
				Action: p.profilesList,
			},
			{
				Name:      "show",
				Usage:     "show the fields of an agent's variants and where each came from",
				ArgsUsage: "AGENT [VARIANT]",
				Description: `Examples:
   sandboxrun profiles show claude
   sandboxrun profiles show claude PLAN`,
				Flags:  []cli.Flag{jsonFlag},
				Action: p.profilesShow,
			},
		},
	}
}

func (p *program) profilesList(c *cli.Context) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	views := []catalog.Profile{}
	rows := [][]string{}
	for _, info := range image.Registered() {
		for _, variant := range cfg.Profiles.Variants(info) {
			v := catalog.ProfileOf(cfg, info, variant)
			views = append(views, v)
			rows = append(rows, []string{v.Agent, v.Variant, profileSummary(v)})
		}
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(views)
	}
	return render.Table(p.stdout, []string{"AGENT", "VARIANT", "FIELDS"}, rows)
}

func (p *program) profilesShow(c *cli.Context) error {
	if c.NArg() < 1 || c.NArg() > 2 {
		return &document.InputError{Message: fmt.Sprintf("needs an argument AGENT and at most one VARIANT, got %d", c.NArg()), Hint: `see "sandboxrun profiles show --help"`}
	}
	a, ok := agents.Lookup(c.Args().First())
	if !ok {
		return &document.InputError{Message: fmt.Sprintf("no agent is called %q", c.Args().First()), Hint: "sandboxrun agents list"}
	}
	cfg, err := p.config()
	if err != nil {
		return err
	}
	info := a.Info()
	variants := cfg.Profiles.Variants(info)
	if c.NArg() == 2 {
		if _, err := cfg.Profiles.Profile(info, c.Args().Get(1)); err != nil {
			return &document.InputError{Message: err.Error(), Hint: "sandboxrun profiles list"}
		}
		variants = []string{c.Args().Get(1)}
	}
	views := []catalog.Profile{}
	rows := [][]string{}
	for _, variant := range variants {
		v := catalog.ProfileOf(cfg, info, variant)
		views = append(views, v)
		if len(v.Fields) == 0 {
			rows = append(rows, []string{variant, "-", "", config.OriginBuiltIn})
		}
		for _, f := range v.Fields {
			rows = append(rows, []string{variant, f.Name, string(f.Value), f.Origin})
		}
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(views)
	}
	return render.Table(p.stdout, []string{"VARIANT", "FIELD", "VALUE", "FROM"}, rows)
}

// profileSummary is the fields in one line.
func profileSummary(v catalog.Profile) string {
	var parts []string
	for _, f := range v.Fields {
		parts = append(parts, fmt.Sprintf("%s=%s", f.Name, f.Value))
	}
	return strings.Join(parts, " ")
}
