package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/images"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

func (p *program) imageBuildCommand() *cli.Command {
	return &cli.Command{
		Name:      "build",
		Usage:     "build the image that agents run in",
		ArgsUsage: "[AGENT…]",
		Description: `Builds ` + images.Name + ` with the named agents and no others, all of them by
default, at the versions this program was tested with. The base image must exist
already. The image receives the host's CA bundle (SSL_CERT_FILE, or the system's), and the
proxies and the npm registry of the environment apply. An image of the same inputs
is not built again; for a newer agent only that agent is installed again.

--print prints the Dockerfile for the engine, and builds nothing.
It needs no engine; the context has one more file, ca.pem, which may be empty.

Examples:
   sandboxrun image build
   sandboxrun image build claude codex
   sandboxrun image build --print claude
   sandboxrun image build --force`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "build although an image of the same inputs exists"},
			&cli.BoolFlag{Name: "print", Usage: "print the Dockerfile and build nothing"},
			&cli.StringFlag{Name: "base", Value: images.Base, Usage: "image to start from"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress on standard error"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("print") {
				return p.printDockerfile(c.Args().Slice())
			}
			ctx, stop := p.interruptible(c.Context, nil)
			defer stop()
			progress := p.stderr
			if c.Bool("quiet") {
				progress = io.Discard
			}
			return p.buildImage(ctx, c.Args().Slice(), c.String("base"), c.Bool("force"), progress)
		},
	}
}

// printDockerfile prints the recipe with the named agents, in the engine's form.
func (p *program) printDockerfile(names []string) error {
	chosen, err := chooseAgents(names)
	if err != nil {
		return err
	}
	b := images.Build{Agents: imageAgents(chosen)}
	if err := b.Check(); err != nil {
		return err
	}
	_, err = p.stdout.Write(b.Dockerfile())
	return err
}

// buildImage builds the agent image unless one of the same inputs exists.
func (p *program) buildImage(ctx context.Context, names []string, base string, force bool, progress io.Writer) error {
	chosen, err := chooseAgents(names)
	if err != nil {
		return err
	}
	eng, err := p.engine()
	if err != nil {
		return err
	}
	defer func() { _ = eng.Close() }() // only idle connections are left
	b, err := p.imageInputs(ctx, eng, base, chosen)
	if err != nil {
		return err
	}
	have, err := eng.Image(ctx, images.Name)
	var missing *sandbox.ImageError
	if err != nil && !errors.As(err, &missing) {
		return err
	}
	if !force && have.Labels[images.InputsLabel] == b.Digest() {
		_, err := fmt.Fprintf(p.stdout, "%s is up to date (%s): %s\n", images.Name, shortID(have.ID), agentsIn(have))
		return err
	}
	labels := map[string]string{images.InputsLabel: b.Digest()}
	for _, a := range chosen {
		labels[images.AgentLabel+a.Name] = a.Version
	}
	tar, err := b.Context()
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Fprintf(progress, "building %s from %s with %s\n", images.Name, base, describeAgents(chosen))
	if err := eng.BuildImage(ctx, tar, images.Name, b.Args, labels, escapeLines{progress}); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if have, err = eng.Image(ctx, images.Name); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s built in %s (%s): %s\n", images.Name,
		time.Since(began).Round(time.Second), shortID(have.ID), agentsIn(have))
	return err
}

// imageInputs collects everything that goes into the image.
func (p *program) imageInputs(ctx context.Context, eng *docker.Engine, base string, chosen []agents.Info) (images.Build, error) {
	ca, err := images.HostCABundle(p.getenv)
	if err != nil {
		return images.Build{}, err
	}
	args := images.HostArgs(p.environ())
	args["BASE_IMAGE"] = base
	have, err := eng.Image(ctx, base)
	if err != nil {
		return images.Build{}, err
	}
	b := images.Build{BaseID: have.ID, CABundle: ca, Agents: imageAgents(chosen), Args: args}
	return b, b.Check()
}

// escapeLines makes text of a build printable, line by line.
type escapeLines struct{ w io.Writer }

func (e escapeLines) Write(p []byte) (int, error) {
	lines := strings.SplitAfter(string(p), "\n")
	for _, l := range lines {
		text, ended := strings.CutSuffix(l, "\n")
		text = render.Printable(text)
		if ended {
			text += "\n"
		}
		if _, err := io.WriteString(e.w, text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
