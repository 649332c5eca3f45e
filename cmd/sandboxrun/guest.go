package main

import (
	"github.com/urfave/cli/v2"

	"sandboxrun/sandbox/egress"
)

// guestName is the hidden command that a box's main process runs.
const guestName = "guest"

// guestCommand is the main process of every box: the inner end of the tunnel.
func (p *program) guestCommand() *cli.Command {
	return &cli.Command{
		Name:   guestName,
		Usage:  "main process of a box (started by sandboxrun itself)",
		Hidden: true,
		Action: func(c *cli.Context) error { return egress.GuestMain(c.Context) },
	}
}
