package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
	"sandboxrun/schemas"
)

func (p *program) schemaCommand() *cli.Command {
	names := strings.Join(schemas.Names(), "|")
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of a document",
		ArgsUsage: names,
		Description: `Prints one of the schemas that every document of this program is valid against
(JSON Schema, draft 2020-12).

Examples:
   sandboxrun schema task
   sandboxrun schema result`,
		Action: func(c *cli.Context) error {
			name, err := oneArgument(c, names)
			if err != nil {
				return err
			}
			text, err := schemas.ByName(name)
			if err != nil {
				return &document.InputError{Message: err.Error()}
			}
			_, err = p.stdout.Write(text)
			return err
		},
	}
}
