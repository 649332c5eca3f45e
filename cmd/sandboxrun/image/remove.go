package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/images"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

func (h Host) rmCommand() *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove images that this program built",
		ArgsUsage: "IMAGE…",
		Description: `Removes images by name or id, each with what it was made from if no other image
needs that. An image that this program did not build is refused, and so is one from
which a container was made.

Examples:
   sandboxrun image rm my-python`,
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return &document.InputError{Message: "needs at least one argument IMAGE", Hint: "sandboxrun image list"}
			}
			return h.withEngine(c, func(ctx context.Context, eng *docker.Engine) error {
				return h.rm(ctx, eng, c.Args().Slice(), c.Bool(jsonFlag.Name))
			})
		},
	}
}

// rm looks all names up first, so that a typo removes nothing.
func (h Host) rm(ctx context.Context, eng *docker.Engine, names []string, asJSON bool) error {
	all, err := ours(ctx, eng)
	if err != nil {
		return err
	}
	for _, name := range names {
		have, err := eng.Image(ctx, name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(i sandbox.ImageInfo) bool { return i.ID == have.ID }) {
			return &document.InputError{Message: "this program did not build the image " + name, Hint: "docker image rm " + name + " removes it"}
		}
	}
	removed := []string{}
	for _, name := range names {
		gone, err := eng.RemoveImage(ctx, name)
		if err != nil {
			return err
		}
		if !gone {
			return &document.InputError{
				Message: fmt.Sprintf("the image %s is in use: a container or another image was made from it, or it has more names", name),
				Hint:    "remove those first; sandboxrun reap removes boxes of runs that died",
			}
		}
		removed = append(removed, name)
	}
	// Of what else nothing needs, only what was made for these images goes with them.
	var theirs []sandbox.ImageInfo
	for _, i := range all {
		if slices.ContainsFunc(names, func(name string) bool { return madeFor(i, name) }) {
			theirs = append(theirs, i)
		}
	}
	more, err := prune(ctx, eng, theirs)
	if err != nil {
		return err
	}
	return h.printRemoved(append(removed, more...), asJSON)
}

// madeFor says that an image is the base of the one called name, or a stage of that base.
func madeFor(i sandbox.ImageInfo, name string) bool {
	base := images.BaseTag(strings.TrimSuffix(name, ":latest"))
	return slices.ContainsFunc(i.Tags, func(tag string) bool { return tag == base || strings.HasPrefix(tag, base+".") })
}

func (h Host) pruneCommand() *cli.Command {
	return &cli.Command{
		Name:  "prune",
		Usage: "remove images of this program that nothing needs",
		Description: `Removes images that newer ones replaced, bases whose image is gone, and what builds
that failed had done; with --parts also the stages that make the next build quick.
Images with a name of yours stay, and so do all that this program did not build.

Examples:
   sandboxrun image prune --dry-run
   sandboxrun image prune --parts`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "parts", Usage: "remove the stages of images as well: the next build takes minutes"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would be removed, and remove nothing"}, jsonFlag,
		},
		Action: func(c *cli.Context) error {
			return h.withEngine(c, func(ctx context.Context, eng *docker.Engine) error {
				all, err := ours(ctx, eng)
				if err != nil {
					return err
				}
				candidates := needless(all, c.Bool("parts"))
				if c.Bool("dry-run") {
					names := []string{}
					for _, i := range candidates {
						names = append(names, describe(i))
					}
					return h.printRemoved(names, c.Bool(jsonFlag.Name))
				}
				removed, err := prune(ctx, eng, candidates)
				if err != nil {
					return err
				}
				return h.printRemoved(removed, c.Bool(jsonFlag.Name))
			})
		},
	}
}

// needless lists the images that no other one needs, stages on request only.
func needless(all []sandbox.ImageInfo, parts bool) []sandbox.ImageInfo {
	var list []sandbox.ImageInfo
	named := func(tag string) bool {
		return slices.ContainsFunc(all, func(i sandbox.ImageInfo) bool {
			return slices.Contains(i.Tags, tag) || slices.Contains(i.Tags, tag+":latest")
		})
	}
	for _, i := range all {
		drop := false
		switch kindOf(i) {
		case whole:
		case replaced:
			drop = true
		case base:
			drop = !named(i.Labels[images.BaseOfLabel])
		case part:
			drop = parts || slices.Contains(i.Tags, images.Unfinished)
		}
		if drop {
			list = append(list, i)
		}
	}
	return list
}

// prune removes images and returns what was removed. What turns out to be in use stays.
func prune(ctx context.Context, eng *docker.Engine, candidates []sandbox.ImageInfo) ([]string, error) {
	removed := []string{}
	for _, i := range candidates {
		refs := i.Tags
		if len(refs) == 0 {
			refs = []string{i.ID}
		}
		all := true
		for _, ref := range refs {
			gone, err := eng.RemoveImage(ctx, ref)
			if err != nil {
				return removed, err
			}
			all = all && gone
		}
		if all {
			removed = append(removed, describe(i))
		}
	}
	return removed, nil
}

func describe(i sandbox.ImageInfo) string {
	name := strings.Join(i.Tags, " ")
	if name == "" {
		name = shortID(i.ID)
	}
	return fmt.Sprintf("%s (%s)", name, megabytes(i.Bytes))
}

func (h Host) printRemoved(names []string, asJSON bool) error {
	if asJSON {
		return h.PrintJSON(map[string][]string{"removed": names})
	}
	for _, name := range names {
		fmt.Fprintln(h.Stdout, render.Printable(name))
	}
	if len(names) == 0 {
		fmt.Fprintln(h.Stdout, "nothing to remove")
	}
	return nil
}
