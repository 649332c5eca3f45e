package agents_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// scriptBox is a box whose only process is a function that plays the CLI's side
// of the protocol, for what the real one cannot be made to say.
type scriptBox struct {
	play func(cli *scriptCLI) int
	// lost is returned by Exec instead of an exit, when it is not nil.
	lost error
}

// scriptCLI is what a script sees of the world.
type scriptCLI struct {
	in   *bufio.Reader
	out  io.Writer
	err  io.Writer
	gone <-chan struct{} // closed when the box is removed
}

func (b scriptBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.Stdin.(io.Closer).Close() })
	defer stop()
	code := b.play(&scriptCLI{in: bufio.NewReader(c.Stdin), out: c.Stdout, err: c.Stderr, gone: ctx.Done()})
	switch {
	case b.lost != nil:
		return sandbox.Exit{}, b.lost
	case ctx.Err() != nil:
		return sandbox.Exit{}, context.Cause(ctx)
	}
	return sandbox.Exit{Code: code}, nil
}

func (scriptBox) Stdio() io.ReadWriteCloser   { return nil }
func (scriptBox) Close(context.Context) error { return nil }

// preparedBox is a scriptBox in which files are looked for, of which there are
// none, and written before the CLI starts.
type preparedBox struct{ scriptBox }

func (b preparedBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	switch {
	case c.Stdin == nil:
		return sandbox.Exit{}, nil
	case c.Stdout == nil:
		_, err := io.Copy(io.Discard, c.Stdin)
		return sandbox.Exit{}, err
	}
	return b.scriptBox.Exec(ctx, c)
}

// say prints lines.
func (c *scriptCLI) say(lines ...string) {
	for _, l := range lines {
		_, _ = io.WriteString(c.out, l+"\n")
	}
}

// hear reads the next message; nil means that the input has ended.
func (c *scriptCLI) hear() map[string]any {
	b, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(b, &m) != nil {
		return map[string]any{"type": "not json"}
	}
	return m
}

// begin reads initialize and the prompt, and prints init.
func (c *scriptCLI) begin() {
	c.hear()
	c.hear()
	c.say(frameInit)
}

// drain reads until the input ends.
func (c *scriptCLI) drain() int {
	for c.hear() != nil {
	}
	return 0
}

const frameInit = `{"type":"system","subtype":"init","session_id":"s-1","model":"m-1","claude_code_version":"9.9.9"}`

func frameResult(text string) string {
	return `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"` + text + `","usage":{"input_tokens":1,"output_tokens":2}}`
}

func frameTool(id, name, input string) string {
	return `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}]}}`
}

func frameToolResult(id, text string) string {
	return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + text + `"}]}}`
}

func frameAsk(id, toolID, tool, input string) string {
	return `{"type":"control_request","request_id":` + id + `,"request":{"subtype":"can_use_tool","tool_name":"` + tool + `","tool_use_id":"` + toolID + `","input":` + input + `}}`
}

// playClaude takes one turn against a script.
func playClaude(ctx context.Context, t *testing.T, h *recorder, play func(cli *scriptCLI) int) (agents.Outcome, error) {
	t.Helper()
	claude, ok := agents.Lookup("CLAUDE_CODE")
	if !ok {
		t.Fatal("claude is not registered")
	}
	return claude.Run(ctx, scriptBox{play: play}, agents.Turn{Prompt: "go", SessionID: "s-0"}, h)
}

// mustPlay is playClaude without an error.
func mustPlay(t *testing.T, h *recorder, play func(cli *scriptCLI) int) agents.Outcome {
	t.Helper()
	o, err := playClaude(t.Context(), t, h, play)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}
