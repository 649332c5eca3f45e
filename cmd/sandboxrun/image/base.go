package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/images"
	"sandboxrun/images/source"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

// start is what an image begins with: an image that exists, or one that is built first.
type start struct {
	image  string
	source *source.Source
	text   string   // as people name it
	unused []string // keys of a devcontainer.json that are not followed
}

// own says that the agents go on top of an image of the user's.
func (s start) own() bool { return s.source != nil || s.image != images.Base }

func (s start) String() string { return s.text }

// startFrom reads the flags --base, --context and --devcontainer.
func startFrom(c *cli.Context) (start, error) {
	dir, base := c.String("devcontainer"), c.String("base")
	switch {
	case dir != "" && (c.IsSet("base") || c.IsSet("context")):
		return start{}, &document.InputError{Message: "--devcontainer cannot be used with --base or --context", Hint: "the file says what the image is made from"}
	case dir != "":
		return fromDevcontainer(dir)
	}
	file, err := dockerfile(base)
	switch {
	case err != nil:
		return start{}, err
	case file != "":
		return fromDockerfile(base, file, c.String("context"))
	case c.IsSet("context"):
		return start{}, &document.InputError{Message: fmt.Sprintf("--context belongs to a Dockerfile, and --base %s is an image", base), Hint: "leave --context out"}
	}
	return start{image: base, text: base}, nil
}

// dockerfile returns the Dockerfile that a word names: itself, or the one in a directory; "" when the word names an image.
func dockerfile(word string) (string, error) {
	fi, err := os.Stat(word)
	switch {
	case err == nil && fi.IsDir():
		return filepath.Join(word, "Dockerfile"), nil
	case err == nil:
		return word, nil
	case strings.HasPrefix(word, "."), strings.HasPrefix(word, "/"), strings.Contains(filepath.Base(word), "Dockerfile"):
		return "", &document.InputError{Message: fmt.Sprintf("flag --base: %s: %v", word, reason(err)), Hint: "name a Dockerfile, or an image"}
	}
	return "", nil
}

func fromDockerfile(word, file, dir string) (start, error) {
	if dir == "" {
		dir = filepath.Dir(file)
	}
	name, err := filepath.Rel(dir, file)
	if err == nil && !filepath.IsLocal(name) {
		err = errors.New("is not in it")
	}
	if err != nil {
		return start{}, &document.InputError{Message: fmt.Sprintf("flag --context: %s: the Dockerfile %s %v", dir, file, err), Hint: "name a directory that holds the Dockerfile"}
	}
	return start{source: &source.Source{Dir: dir, Dockerfile: filepath.ToSlash(name)}, text: word}, nil
}

func fromDevcontainer(dir string) (start, error) {
	d, err := source.ReadDevcontainer(dir)
	if err != nil {
		return start{}, &document.InputError{
			Message: fmt.Sprintf("flag --devcontainer: %v", err),
			Hint:    "write a Dockerfile with the tools of the project, and name it with --base",
		}
	}
	return start{image: d.Image, source: d.Build, text: filepath.Join(dir, d.File), unused: d.Unused}, nil
}

// base returns the image that the agents go on top of. A Dockerfile is built when its content is new; its image has a
// name of its own, from which the engine goes on when it changes.
func (o order) base(ctx context.Context, args map[string]string) (sandbox.ImageInfo, error) {
	if len(o.from.unused) > 0 {
		fmt.Fprintf(o.progress, "%s: not followed: %s\n", o.from, strings.Join(o.from.unused, ", "))
	}
	s := o.from.source
	if s == nil {
		have, err := o.eng.Image(ctx, o.from.image)
		if missing, ok := errors.AsType[*sandbox.ImageError](err); ok {
			return have, &document.InputError{
				Message: fmt.Sprintf("flag --base: image %s: %s", missing.Image, missing.Reason),
				Hint:    "pull it (docker pull " + missing.Image + "), or name a Dockerfile by a path such as ./Dockerfile",
			}
		}
		return have, err
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return sandbox.ImageInfo{}, contextProblem(ctx, err)
	}
	tag := images.BaseTag(o.tag)
	have, found, err := o.find(ctx, tag)
	if err != nil || found && !o.force && have.Labels[images.InputsLabel] == digest {
		return have, err
	}
	// What the user's file declares is set as it says, and the network as on this host.
	all := images.Predefined(args)
	maps.Copy(all, s.Args)
	read, write := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		write.CloseWithError(s.Write(ctx, write))
	}()
	fmt.Fprintf(o.progress, "building %s from %s\n", tag, o.from)
	err = o.eng.BuildImage(ctx, docker.Build{
		Context: read, Dockerfile: s.Dockerfile, Target: strings.ToLower(s.Target), Tag: tag, Args: all,
		Labels: map[string]string{images.InputsLabel: digest, images.FromLabel: o.from.String(), images.BaseOfLabel: o.tag},
		StageTag: func(stage string) string {
			if stage == "" {
				return images.Unfinished
			}
			return images.BaseStageTag(o.tag, stage)
		},
	}, o.progress)
	read.Close()
	<-sent
	if err != nil {
		return sandbox.ImageInfo{}, contextProblem(ctx, err)
	}
	return o.eng.Image(ctx, tag)
}

// contextProblem says what is wrong with the user's files in the words of the flags.
func contextProblem(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	limit, large := errors.AsType[*source.LimitError](err)
	switch {
	case large:
		return &document.InputError{Message: limit.Error(), Hint: "the directory of the Dockerfile is sent to the engine; --context names another"}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return &document.InputError{Message: err.Error(), Hint: "name a Dockerfile that this user can read"}
	}
	return err
}

func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "cannot be read by this user"
	}
	return err.Error()
}
