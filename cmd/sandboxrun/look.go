package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/sandbox/probe"
)

// lookBound is how long a box may look at itself. What it has not seen by then
// it says it has not.
const lookBound = 60 * time.Second

// lookCommand is run inside of boxes: it says what an attacker there has to
// work with.
func (p *program) lookCommand() *cli.Command {
	return &cli.Command{
		Name:   "look",
		Usage:  "look at a box from inside and print what is there as JSON (run by doctor and the tests in a box)",
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
