package main

import (
	"fmt"
	"os/exec"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/client"
	"sandboxrun/runner/document"
)

func (p *program) openCommand() *cli.Command {
	return &cli.Command{
		Name:  "open",
		Usage: "print a link that signs a browser in at the server's page",
		Description: `The link is good once, for 90 seconds. The page keeps a token of its own, which it can
list and take back. With --browser the link is given to the desktop's browser; other
users of this machine can see it meanwhile in the list of processes, and whoever uses
it first is signed in.

Exit codes: 0 printed, 2 usage, 5 no server answers.

Examples:
   sandboxrun open
   sandboxrun open --browser`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "server", Value: client.Auto, Usage: "`URL` of the server, or auto for the one of the state directory"},
			&cli.BoolFlag{Name: "browser", Usage: "give the link to the desktop's browser (xdg-open)"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return &document.InputError{Message: fmt.Sprintf("takes no argument, got %q", c.Args().First()), Hint: `see "sandboxrun open --help"`}
			}
			server, err := p.server(c)
			if err != nil {
				return err
			}
			defer server.Close()
			link, err := server.Link(c.Context)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(p.stdout, link); err != nil || !c.Bool("browser") {
				return err
			}
			if err := exec.CommandContext(c.Context, "xdg-open", link).Run(); err != nil {
				p.notef("no browser was started (%v): open the link yourself", err)
			}
			return nil
		},
	}
}
