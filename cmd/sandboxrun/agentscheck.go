package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/agents/recordings"
	"sandboxrun/cmd/sandboxrun/image"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner"
	"sandboxrun/runner/document"
)

// checkView is the output of agents check for one agent.
type checkView struct {
	Name     string `json:"name"`
	Pinned   string `json:"pinned"`            // version this program installs
	Version  string `json:"version,omitempty"` // as the program in the image reports it
	Recorded bool   `json:"recorded"`          // tested with transcripts of that version
	Code     string `json:"code,omitempty"`    // issue code of the problem, "" without one
	Problem  string `json:"problem,omitempty"`
	Millis   int64  `json:"duration_ms"`
}

func (p *program) agentsCheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "start the agents' programs in the image and check their protocols",
		ArgsUsage: "[AGENT…]",
		Description: `Starts each agent's program in a box of its own, performs the handshake of its
protocol, and reports whether this program was tested with its version. No model
is called, no key is needed, and nothing is sent anywhere. Exits with 4 when an agent
does not answer.

Examples:
   sandboxrun agents check
   sandboxrun agents check --json claude`,
		Flags:  []cli.Flag{jsonFlag},
		Action: p.agentsCheck,
	}
}

func (p *program) agentsCheck(c *cli.Context) error {
	chosen, err := image.ChooseAgents(c.Args().Slice())
	if err != nil {
		return err
	}
	ctx, stop := p.interruptible(c.Context, nil)
	defer stop()
	r, done, err := p.runner(true)
	if err != nil {
		return err
	}
	defer done()
	views := []checkView{}
	rows := [][]string{}
	failed := false
	for _, info := range chosen {
		v, err := checkAgent(ctx, r, info)
		if err != nil {
			return err
		}
		failed = failed || v.Version == ""
		views = append(views, v)
		state := "ok"
		if v.Code != "" {
			state = v.Code + ": " + v.Problem
		}
		rows = append(rows, []string{v.Name, v.Pinned, orDash(v.Version), yesNo(v.Recorded), fmt.Sprintf("%.1f s", float64(v.Millis)/1000), state})
	}
	if c.Bool(jsonFlag.Name) {
		err = p.printJSON(views)
	} else {
		err = render.Table(p.stdout, []string{"AGENT", "PINNED", "IN THE IMAGE", "RECORDED", "HANDSHAKE", "STATE"}, rows)
	}
	if err == nil && failed {
		return exitError(document.ExitFailed)
	}
	return err
}

// checkAgent probes one agent. An error means that no box can be opened.
func checkAgent(ctx context.Context, r *runner.Runner, info agents.Info) (checkView, error) {
	v := checkView{Name: info.Name, Pinned: info.Version}
	began := time.Now()
	version, err := r.Probe(ctx, info.Name)
	v.Millis = time.Since(began).Milliseconds()
	var failed *runner.ProbeError
	switch {
	case errors.As(err, &failed):
		v.Code, v.Problem = "agent_no_result", failed.Error()
		return v, nil
	case err != nil:
		return v, err
	}
	v.Version, v.Recorded = version, slices.Contains(recordings.Versions(info.Name), version)
	if !v.Recorded {
		v.Code = "agent_version_unknown"
		v.Problem = fmt.Sprintf("this program was tested with %s; run \"sandboxrun image build\"", info.Version)
	}
	return v, nil
}
