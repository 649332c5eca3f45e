package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/guest"
	inbox "sandboxrun/sandbox/egress/guest"
	"sandboxrun/sandbox/probe"
)

// guestCommand is the main process of every box: the inner end of the tunnel.
func (p *program) guestCommand() *cli.Command {
	return &cli.Command{
		Name:   guest.Command,
		Usage:  "main process of a box (started by sandboxrun itself)",
		Hidden: true,
		Action: func(c *cli.Context) error { return inbox.Main(c.Context) },
	}
}

// lookBound is how long the inspection of a box may take. It reports what it has not reached by then.
const lookBound = 60 * time.Second

// lookCommand runs inside boxes: it reports what an attacker there could use.
func (p *program) lookCommand() *cli.Command {
	return &cli.Command{
		Name:   "look",
		Usage:  "inspect a box from inside and print the result as JSON (run by doctor and the tests in a box)",
		Hidden: true,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "child", Usage: "describe this process only"},
			&cli.StringSliceFlag{Name: "reach", Usage: "try to connect to `HOST:PORT` (repeatable)"},
		},
		Action: func(c *cli.Context) error {
			enc := json.NewEncoder(p.stdout)
			if c.Bool("child") {
				return enc.Encode(probe.Self())
			}
			ctx, cancel := context.WithTimeout(c.Context, lookBound)
			defer cancel()
			return enc.Encode(probe.Look(ctx, c.StringSlice("reach")))
		},
	}
}
