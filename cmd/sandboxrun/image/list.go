package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/images"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

func (h Host) listCommand() *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the images that this program built",
		Description: `Prints what each image was made from, the agents it holds, and its size, of which
images with the same base or agents have a part in common. "sandboxrun image prune"
removes what no image needs.

Examples:
   sandboxrun image list
   sandboxrun image list --json`,
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			return h.withEngine(c, func(ctx context.Context, eng *docker.Engine) error { return h.list(ctx, eng, c.Bool(jsonFlag.Name)) })
		},
	}
}

func (h Host) list(ctx context.Context, eng *docker.Engine, asJSON bool) error {
	all, err := ours(ctx, eng)
	if err != nil {
		return err
	}
	list := []sandbox.ImageInfo{}
	for _, i := range all {
		if kindOf(i) != part {
			list = append(list, i)
		}
	}
	if asJSON {
		return h.PrintJSON(list)
	}
	rows := [][]string{}
	for _, i := range list {
		tags := strings.Join(i.Tags, " ")
		if tags == "" {
			tags = "(replaced)"
		}
		from := i.Labels[images.FromLabel]
		if from == "" {
			from = "-"
		}
		holds := agentsIn(i)
		if i.Labels[images.BaseOfLabel] != "" {
			holds = "(base of " + render.Printable(i.Labels[images.BaseOfLabel]) + ")"
		}
		rows = append(rows, []string{render.Printable(tags), shortID(i.ID), render.Printable(from), holds, megabytes(i.Bytes), i.Created})
	}
	if err := render.Table(h.Stdout, []string{"IMAGE", "ID", "FROM", "AGENTS", "SIZE", "CREATED"}, rows); err != nil {
		return err
	}
	if n := len(all) - len(list); n > 0 {
		_, err = fmt.Fprintf(h.Stdout, "and %d parts of images, which make the next build quick\n", n)
	}
	return err
}

// builtAs says that this program built the image under one of the names it has, or that it has lost them all. What others
// make from such an image has its labels, but not its name.
func builtAs(i sandbox.ImageInfo) bool {
	if i.Labels[images.InputsLabel] == "" {
		return false
	}
	name := i.Labels[images.ImageLabel]
	return len(i.Tags) == 0 || slices.ContainsFunc(i.Tags, func(tag string) bool {
		return tag == name || tag == name+":latest" || name == "" && strings.HasPrefix(tag, "sandboxrun/") || isBaseName(tag)
	})
}

// kind is what an image of ours is.
type kind int

const (
	whole    kind = iota // an image for boxes
	base                 // of a Dockerfile of the user's
	part                 // a stage
	replaced             // an image or a stage that lost its name
)

// ours lists the images that this program made, by name.
func ours(ctx context.Context, eng *docker.Engine) ([]sandbox.ImageInfo, error) {
	var all []sandbox.ImageInfo
	list, err := eng.Images(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		// Older engines give an image without a name this one.
		i.Tags = slices.DeleteFunc(i.Tags, func(tag string) bool { return tag == "<none>:<none>" })
		switch {
		case builtAs(i), isPart(i):
		case len(i.Tags) == 0:
			if abandoned, err := eng.ImageEnv(ctx, i.ID); err != nil || !images.IsStage(abandoned) {
				continue // it may have been removed meanwhile
			}
		default:
			continue
		}
		all = append(all, i)
	}
	return all, nil
}

func kindOf(i sandbox.ImageInfo) kind {
	switch {
	case isPart(i):
		return part
	case len(i.Tags) == 0:
		return replaced
	case i.Labels[images.BaseOfLabel] != "" && slices.ContainsFunc(i.Tags, isBaseName):
		return base
	}
	return whole
}

func isPart(i sandbox.ImageInfo) bool {
	return len(i.Tags) > 0 && !slices.ContainsFunc(i.Tags, func(tag string) bool {
		return !strings.HasPrefix(tag, images.Parts+":") && (!isBaseName(tag) || i.Labels[images.BaseOfLabel] != "")
	})
}

func isBaseName(tag string) bool { return strings.HasPrefix(tag, images.Bases+":") }

// agentsIn lists the agents of an image according to its labels, as name@version by name, unknown agents included.
func agentsIn(i sandbox.ImageInfo) string {
	return render.Printable(strings.Join(images.AgentsIn(i.Labels), " "))
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1_000_000) }
