package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// BuildImage builds a tar archive with a Dockerfile at its root by the engine's classic builder, which every supported
// engine has, and tags the result. Progress is written as plain lines. A failing step is a *BuildError.
func (e *Engine) BuildImage(ctx context.Context, tarContext io.Reader, tag string, buildArgs, labels map[string]string, progress io.Writer) error {
	if err := e.ready(ctx); err != nil {
		return err
	}
	args := make(map[string]*string, len(buildArgs))
	for name, value := range buildArgs {
		args[name] = &value
	}
	return order(ctx, e, "build image", e.timeouts.Build, func(ctx context.Context) error {
		answer, err := e.client.ImageBuild(ctx, tarContext, build.ImageBuildOptions{
			Version:     build.BuilderV1,
			Tags:        []string{tag},
			BuildArgs:   args,
			Labels:      labels,
			Remove:      true,
			ForceRemove: true,
		})
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		return follow(answer.Body, progress)
	})
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

// follow copies the builder's messages to progress until the stream ends. Only a message with the image's id means
// success: a stream that just stops is an error.
func follow(body io.Reader, progress io.Writer) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxBuildLine)
	out := buildOutput{progress: progress}
	done := false
	for lines.Scan() {
		var m buildMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("unreadable message from the builder: %w", err)
		}
		if m.Error != "" {
			return &BuildError{Step: out.step, Reason: m.Error, Tail: out.tail}
		}
		done = done || m.Result != nil
		if m.Status != "" && m.Progress == nil {
			m.Stream = strings.TrimSpace(m.ID+" "+m.Status) + "\n"
		}
		if err := out.write(m.Stream); err != nil {
			return fmt.Errorf("report progress: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !done {
		return errors.Join(io.ErrUnexpectedEOF, &BuildError{Step: out.step, Reason: "the engine closed the stream before the image was complete", Tail: out.tail})
	}
	return nil
}

// buildOutput writes the output of a build in lines and keeps what a BuildError shows.
type buildOutput struct {
	progress io.Writer
	partial  bytes.Buffer // an incomplete line
	step     string
	tail     []string
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
