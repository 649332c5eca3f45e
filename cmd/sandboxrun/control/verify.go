package control

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/attest"
	"sandboxrun/runner/document"
)

// Verify is "runs verify".
func (m Commands) Verify() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "compare the files of a run with what was signed when it ended",
		ArgsUsage: "RUN",
		Description: `A run that ends signs a statement about its result, plan, patch and journal with the
ed25519 key of the state directory: attestation.json, an in-toto statement in a DSSE
envelope. The command needs no network and no engine. It exits with 4 where a file is
not as it was signed.

Whoever can write the state directory can sign too. Keep a copy of the public key,
signing/ed25519.pub there, elsewhere, and compare with it by --key.

Examples:
   sandboxrun runs verify last
   sandboxrun runs verify --key ci.pub --json RUN`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "key", Usage: "public key in PEM, from `FILE`"},
		},
		Action: m.verify,
	}
}

func (m Commands) verify(c *cli.Context) error {
	d, keyDir, err := m.StoredRun(c)
	if err != nil {
		return err
	}
	ctx, stop := m.Interruptible(c.Context)
	defer stop()
	path := c.String("key")
	if path == "" {
		path = attest.PublicKeyPath(keyDir)
	}
	key, err := attest.PublicKey(path)
	if err != nil {
		return &document.InputError{Message: "--key: " + err.Error()}
	}
	report, err := attest.Verify(ctx, key, attest.Stored{
		RunID: d.ID(), Envelope: d.StatementPath(), Result: d.ResultPath(), Plan: d.PlanPath(), Patch: d.PatchPath(), Journal: d.EventsPath(),
	})
	if errors.Is(err, fs.ErrNotExist) {
		return &document.InputError{Message: "run " + d.ID() + " has no signed statement: it has not ended, an earlier version ran it, or the file was removed"}
	}
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		err = m.PrintJSON(report)
	} else {
		err = m.show(report)
	}
	if err == nil && !report.OK {
		err = m.Exit(document.ExitFailed)
	}
	return err
}

func (m Commands) show(r *attest.Report) error {
	rows := [][]string{}
	for _, f := range r.Findings {
		verdict := "ok"
		if !f.OK {
			verdict = "CHANGED"
		}
		rows = append(rows, []string{f.What, verdict, render.Printable(f.Detail)})
	}
	if err := render.Table(m.Out, []string{"WHAT", "VERDICT", "DETAIL"}, rows); err != nil {
		return err
	}
	if r.RunID == "" {
		return nil
	}
	_, err := fmt.Fprintf(m.Out, "run %s ended %s\n", render.Printable(r.RunID), render.Printable(string(r.Status)))
	return err
}
