package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/docker/docker/api/types/build"
)

const (
	// maxBuildLine bounds one message of a build; the engine's own chunks are far smaller.
	maxBuildLine = 1 << 20
	// buildTail is how many last lines of output a BuildError shows.
	buildTail = 20
)

// BuildError says that a step of an image build failed.
type BuildError struct {
	Step   string   // the step as the engine announced it, e.g. "Step 3/9 : RUN npm install"
	Reason string   // the engine's message
	Tail   []string // the last lines of output
}

func (e *BuildError) Error() string {
	text := "build image: " + e.Reason
	if e.Step != "" {
		text = fmt.Sprintf("build image: %s: %s", e.Step, e.Reason)
	}
	if len(e.Tail) > 0 {
		text += "\n  " + strings.Join(e.Tail, "\n  ")
	}
	return text
}

// Build is the order for one image.
type Build struct {
	Context    io.Reader // a tar archive
	Dockerfile string    // its name in the archive; "" means Dockerfile at the root
	Tag        string    // name of the image
	Target     string    // the stage to end with; "" means the last one
	Args       map[string]string
	Labels     map[string]string // of the image, not of its stages
	// StageTag names what a named stage made, and, for "", what a build that failed had done. The classic builder keeps
	// both as its cache, and they would have no name: nobody could tell whose they are. nil leaves them unnamed.
	StageTag func(stage string) string
}

// BuildImage builds an image by the engine's classic builder, which every supported engine has. Progress is written as
// plain lines. A failing step is a *BuildError. Images that lose one of the build's names by it are removed, unless
// something still needs them.
func (e *Engine) BuildImage(ctx context.Context, b Build, progress io.Writer) error {
	if err := e.ready(ctx); err != nil {
		return err
	}
	args := make(map[string]*string, len(b.Args))
	for name, value := range b.Args {
		args[name] = &value
	}
	before, err := e.idOf(ctx, b.Tag)
	if err != nil {
		return err
	}
	out := buildOutput{progress: progress}
	err = order(ctx, e, "build image", e.timeouts.Build, func(ctx context.Context) error {
		answer, err := e.client.ImageBuild(ctx, b.Context, build.ImageBuildOptions{
			Version:     build.BuilderV1,
			Dockerfile:  b.Dockerfile,
			Tags:        []string{b.Tag},
			Target:      b.Target,
			BuildArgs:   args,
			Labels:      b.Labels,
			Remove:      true,
			ForceRemove: true,
		})
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		return out.follow(answer.Body)
	})
	// Also after a signal: names are what the next build, and whoever cleans up, go by.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.timeouts.Teardown)
	defer cancel()
	err = errors.Join(err, e.drop(ctx, before, b.Tag))
	if b.StageTag != nil {
		err = errors.Join(err, e.nameStages(ctx, b, out.stages, err == nil))
	}
	return err
}

// nameStages names the images of stages. A build that is complete has no use for what earlier ones had begun.
func (e *Engine) nameStages(ctx context.Context, b Build, stages []buildStage, complete bool) error {
	var errs []error
	for n, s := range stages {
		last := n == len(stages)-1
		switch {
		case s.image == "", complete && (last || s.name == ""): // the last one has the image's name
		case last:
			errs = append(errs, e.Rename(ctx, s.image, b.StageTag("")))
		case s.name != "":
			errs = append(errs, e.Rename(ctx, s.image, b.StageTag(s.name)))
		}
	}
	if complete {
		before, err := e.idOf(ctx, b.StageTag(""))
		if err == nil && before != "" {
			_, err = e.RemoveImage(ctx, b.StageTag(""))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// buildMessage is one line of the builder's answer.
// (Engine API reference, ImageBuild; pkg/jsonmessage.)
type buildMessage struct {
	Stream   string `json:"stream"`
	Status   string `json:"status"`
	ID       string `json:"id"`
	Progress any    `json:"progressDetail"`
	Error    string `json:"error"`
	Result   any    `json:"aux"` // the image's id, when it is complete
}

// follow copies the builder's messages until the stream ends. Only a message with the image's id means success: a
// stream that just stops is an error.
func (o *buildOutput) follow(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxBuildLine)
	done := false
	for lines.Scan() {
		var m buildMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("unreadable message from the builder: %w", err)
		}
		if m.Error != "" {
			return &BuildError{Step: o.step, Reason: m.Error, Tail: o.tail}
		}
		done = done || m.Result != nil
		if m.Status != "" && m.Progress == nil {
			m.Stream = strings.TrimSpace(m.ID+" "+m.Status) + "\n"
		}
		if err := o.write(m.Stream); err != nil {
			return fmt.Errorf("report progress: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !done {
		return errors.Join(io.ErrUnexpectedEOF, &BuildError{Step: o.step, Reason: "the engine closed the stream before the image was complete", Tail: o.tail})
	}
	return nil
}

// buildOutput writes the output of a build in lines and keeps what a BuildError shows.
type buildOutput struct {
	progress io.Writer
	partial  bytes.Buffer // an incomplete line
	step     string
	tail     []string
	stages   []buildStage
}

// buildStage is one stage as the output tells of it.
type buildStage struct {
	name  string // of the Dockerfile, lower-case; "" without one
	from  string // short id of the image it starts from
	image string // short id of what its last step made, "" before the first
}

// maxStages bounds the stages that are remembered; Dockerfiles have a dozen.
const maxStages = 500

// The lines by which the builder begins a stage and reports what a step made.
var (
	stageLine = regexp.MustCompile(`^Step \d+/\d+ : (?i:FROM)\s+(?:--\S+\s+)*\S+(?:\s+(?i:AS)\s+(\S+))?\s*$`)
	imageLine = regexp.MustCompile(`^ ---> ([0-9a-f]{12})$`)
)

// note remembers stages and their images. Output of the steps themselves could look like either line: whoever writes a
// Dockerfile could as well give these names directly.
func (o *buildOutput) note(text string) {
	if m := stageLine.FindStringSubmatch(text); m != nil && len(o.stages) < maxStages {
		o.stages = append(o.stages, buildStage{name: strings.ToLower(m[1])})
	} else if m := imageLine.FindStringSubmatch(text); m != nil && len(o.stages) > 0 {
		if s := &o.stages[len(o.stages)-1]; s.from == "" {
			s.from = m[1]
		} else if m[1] != s.from {
			s.image = m[1]
		}
	}
}

func (o *buildOutput) write(piece string) error {
	if o.partial.Len() < maxBuildLine {
		o.partial.WriteString(piece)
	}
	for {
		line, rest, found := bytes.Cut(o.partial.Bytes(), []byte("\n"))
		if !found {
			return nil
		}
		text := strings.TrimRight(string(line), "\r ")
		o.partial.Next(o.partial.Len() - len(rest))
		if text == "" {
			continue
		}
		o.note(text)
		if strings.HasPrefix(text, "Step ") {
			o.step, o.tail = text, nil
		} else {
			o.tail = append(o.tail[max(0, len(o.tail)-buildTail+1):], text)
		}
		if _, err := fmt.Fprintln(o.progress, text); err != nil {
			return err
		}
	}
}
