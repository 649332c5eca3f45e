package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/images"
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
		// Older engines call an image that has lost its name so.
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
		rows = append(rows, []string{tags, shortID(i.ID), strings.Join(agentsIn(i), " "), fmt.Sprintf("%d MB", i.Bytes/1_000_000), i.Created})
	}
	return table(p.stdout, []string{"IMAGE", "ID", "AGENTS", "SIZE", "CREATED"}, rows)
}

// shortID is the form of an id that people compare.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(len(id), 12)]
}
