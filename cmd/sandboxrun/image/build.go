package image

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
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

func (h Host) buildCommand() *cli.Command {
	return &cli.Command{
		Name:      "build",
		Usage:     "build an image that agents run in",
		ArgsUsage: "[AGENT…]",
		Description: `Builds ` + images.Name + ` with the named agents and no others, all of them by
default, at the versions this program was tested with. The base image must exist
already. The image receives the host's CA bundle (SSL_CERT_FILE, or the system's), and the
proxies and the npm registry of the environment apply. An image of the same inputs
is not built again; for a newer agent only that agent is installed again.

With --base or --devcontainer it puts the agents on top of an image with the tools of
your project, and --tag names the result; there may be any number of them. --base
takes an image, or the path of a Dockerfile (its directory, or --context, is sent to
the engine). --devcontainer takes "image" or "build.dockerfile" of a
devcontainer.json and names the keys it leaves out. What such a file says runs as
root in a container with network while the image is built: read it first. The image
must be made with glibc, and have the programs that agents need, or apt-get.

--print prints the Dockerfile for the engine, and builds nothing.
It needs no engine; the context has one more file, ca.pem, which may be empty, and with
--base the build argument OWN_IMAGE names that image.

Examples:
   sandboxrun image build
   sandboxrun image build claude codex
   sandboxrun image build --base python:3.12 --tag my-python claude
   sandboxrun image build --base ./Dockerfile --tag my-project claude codex
   sandboxrun image build --devcontainer . --tag my-project
   sandboxrun image build --print claude
   sandboxrun image build --force`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "build although an image of the same inputs exists, and replace one that this program did not build"},
			&cli.BoolFlag{Name: "print", Usage: "print the Dockerfile and build nothing"},
			&cli.StringFlag{Name: "base", Value: images.Base, Usage: "`IMAGE` to start from, or the path of a Dockerfile"},
			&cli.StringFlag{Name: "context", Usage: "`DIR` that the Dockerfile of --base copies from (default: its own)"},
			&cli.StringFlag{Name: "devcontainer", Usage: "start from what the devcontainer.json of `DIR` says"},
			&cli.StringFlag{Name: "tag", Value: images.Name, Usage: "`NAME` of the image"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress on standard error"},
		},
		Action: h.build,
	}
}

func (h Host) build(c *cli.Context) error {
	chosen, err := ChooseAgents(c.Args().Slice())
	if err != nil {
		return err
	}
	from, err := startFrom(c)
	if err != nil {
		return err
	}
	if c.Bool("print") {
		return h.printDockerfile(chosen, from)
	}
	o := order{
		h: h, chosen: chosen, from: from, tag: c.String("tag"), force: c.Bool("force"), progress: escapeLines{h.Stderr},
	}
	if c.Bool("quiet") {
		o.progress = io.Discard
	}
	if err := docker.CheckTag(o.tag); err != nil {
		return &document.InputError{Message: fmt.Sprintf("flag --tag: %q is no name of an image: %v", o.tag, err), Hint: "write it as name or name:version, in lower case"}
	}
	if strings.HasPrefix(o.tag, images.Parts+":") || strings.HasPrefix(o.tag, images.Bases+":") {
		return &document.InputError{Message: fmt.Sprintf("flag --tag: %q is a name of this program's own", o.tag), Hint: "choose another"}
	}
	return h.withEngine(c, func(ctx context.Context, eng *docker.Engine) error {
		o.eng = eng
		return o.run(ctx)
	})
}

// printDockerfile prints the recipe in the engine's form.
func (h Host) printDockerfile(chosen []agents.Info, from start) error {
	b := images.Build{Agents: imageAgents(chosen)}
	if from.own() {
		b.Own = "OWN_IMAGE"
	}
	if err := b.Check(); err != nil {
		return err
	}
	_, err := h.Stdout.Write(b.Dockerfile())
	return err
}

// order is one image to build.
type order struct {
	h        Host
	eng      *docker.Engine
	chosen   []agents.Info
	from     start
	tag      string
	force    bool
	progress io.Writer
}

// run builds the image unless one of the same inputs exists.
func (o order) run(ctx context.Context) error {
	have, found, err := o.find(ctx, o.tag)
	if err != nil {
		return err
	}
	if found && !builtAs(have) && !o.force {
		return &document.InputError{
			Message: fmt.Sprintf("the image %s exists, and this program did not build it", o.tag),
			Hint:    "choose another --tag, or replace that image with --force",
		}
	}
	b, err := o.inputs(ctx)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if !o.force && have.Labels[images.InputsLabel] == b.Digest() {
		_, err := fmt.Fprintf(o.h.Stdout, "%s is up to date (%s): %s\n", o.tag, shortID(have.ID), agentsIn(have))
		return err
	}
	labels := map[string]string{images.InputsLabel: b.Digest(), images.FromLabel: o.from.String(), images.ImageLabel: o.tag}
	for _, a := range o.chosen {
		labels[images.AgentLabel+a.Name] = a.Version
	}
	if o.from.own() { // labels of the base could name agents that the image does not hold
		if err := o.noForeignLabels(ctx, b.Own, labels); err != nil {
			return err
		}
	}
	tar, err := b.Context()
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Fprintf(o.progress, "building %s from %s with %s\n", o.tag, o.from, describeAgents(o.chosen))
	build := docker.Build{Context: tar, Tag: o.tag, Args: b.Args, Labels: labels, StageTag: images.PartTag}
	if err := o.eng.BuildImage(ctx, build, o.progress); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if have, err = o.eng.Image(ctx, o.tag); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.h.Stdout, "%s built in %s (%s): %s\n", o.tag, time.Since(began).Round(time.Second), shortID(have.ID), agentsIn(have))
	return err
}

// noForeignLabels blanks labels of a base that are not true of the image made from it.
func (o order) noForeignLabels(ctx context.Context, base string, labels map[string]string) error {
	have, err := o.eng.Image(ctx, base)
	if err != nil {
		return err
	}
	for name := range have.Labels {
		if _, set := labels[name]; !set && (strings.HasPrefix(name, images.AgentLabel) || name == images.BaseOfLabel) {
			labels[name] = ""
		}
	}
	return nil
}

// find looks for an image.
func (o order) find(ctx context.Context, ref string) (have sandbox.ImageInfo, found bool, err error) {
	have, err = o.eng.Image(ctx, ref)
	if _, missing := errors.AsType[*sandbox.ImageError](err); missing {
		return have, false, nil
	}
	return have, err == nil, err
}

// inputs collects everything that goes into the image, and makes its base where that is a Dockerfile.
func (o order) inputs(ctx context.Context) (images.Build, error) {
	ca, err := images.HostCABundle(o.h.Getenv)
	if err != nil {
		return images.Build{}, err
	}
	b := images.Build{CABundle: ca, Agents: imageAgents(o.chosen), Args: images.HostArgs(o.h.Environ())}
	base := images.Base
	if o.from.own() {
		own, err := o.base(ctx, b.Args)
		if err != nil {
			return images.Build{}, err
		}
		b.Own, b.Args["OWN_IMAGE"] = own.ID, own.ID
		if _, found, err := o.find(ctx, base); err != nil {
			return images.Build{}, err
		} else if !found {
			base = own.ID // then the agents are installed there as well
		}
	}
	b.Args["BASE_IMAGE"] = base
	have, err := o.eng.Image(ctx, base)
	if err != nil {
		return images.Build{}, err
	}
	b.BaseID = have.ID
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
