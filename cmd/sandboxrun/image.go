package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/images"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

func (p *program) imageCommand() *cli.Command {
	return &cli.Command{
		Name:  "image",
		Usage: "build and list the images of boxes",
		Subcommands: []*cli.Command{
			p.imageBuildCommand(),
			{
				Name:  "list",
				Usage: "list the images that this program built",
				Description: `Examples:
   sandboxrun image list
   sandboxrun image list --json`,
				Flags:  []cli.Flag{jsonFlag},
				Action: p.imageList,
			},
		},
	}
}

func (p *program) imageList(c *cli.Context) error {
	eng, err := p.engine()
	if err != nil {
		return err
	}
	defer func() { _ = eng.Close() }() // only idle connections are left
	list, err := eng.Images(c.Context, images.InputsLabel)
	if err != nil {
		return err
	}
	for n := range list {
		// Older engines give an image without a name this one.
		list[n].Tags = slices.DeleteFunc(list[n].Tags, func(tag string) bool { return tag == "<none>:<none>" })
	}
	if c.Bool(jsonFlag.Name) {
		if list == nil {
			list = []sandbox.ImageInfo{}
		}
		return p.printJSON(list)
	}
	rows := [][]string{}
	for _, i := range list {
		tags := strings.Join(i.Tags, " ")
		if tags == "" {
			tags = "(replaced)"
		}
		rows = append(rows, []string{tags, shortID(i.ID), agentsIn(i), fmt.Sprintf("%d MB", i.Bytes/1_000_000), i.Created})
	}
	return render.Table(p.stdout, []string{"IMAGE", "ID", "AGENTS", "SIZE", "CREATED"}, rows)
}

// shortID is the short form of an id, for people.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(len(id), 12)]
}

// agentsIn lists the agents of an image according to its labels, as name@version by name, unknown agents included.
func agentsIn(i sandbox.ImageInfo) string {
	return render.Printable(strings.Join(images.AgentsIn(i.Labels), " "))
}

// imageAgents describes agents for the image.
func imageAgents(chosen []agents.Info) []images.Agent {
	var list []images.Agent
	for _, a := range chosen {
		list = append(list, images.Agent{
			Name: a.Name, Package: a.Package, Version: a.Version,
			Packages: a.Install.Packages, Script: a.Install.Script, Binary: a.Binary,
		})
	}
	return list
}

// chooseAgents finds agents by name, each once; none means all.
func chooseAgents(names []string) ([]agents.Info, error) {
	if len(names) == 0 {
		return registered(), nil
	}
	var chosen []agents.Info
	for _, name := range names {
		a, ok := agents.Lookup(name)
		if !ok {
			return nil, &document.InputError{Message: fmt.Sprintf("no agent is called %q", name), Hint: "sandboxrun agents list"}
		}
		info := a.Info()
		if !slices.ContainsFunc(chosen, func(c agents.Info) bool { return c.Name == info.Name }) {
			chosen = append(chosen, info)
		}
	}
	return chosen, nil
}

// registered describes every agent, by name.
func registered() []agents.Info {
	var list []agents.Info
	for _, a := range agents.All() {
		list = append(list, a.Info())
	}
	return list
}

func describeAgents(list []agents.Info) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, a.Name+" "+a.Version)
	}
	return strings.Join(parts, ", ")
}
