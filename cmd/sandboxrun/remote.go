package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/client"
	"sandboxrun/runner/document"
)

// executeThrough has the server run a task. What flags decide here belongs into the task there.
func (p *program) executeThrough(c *cli.Context) error {
	var bad document.Problems
	for _, f := range append(p.overrideFlags(), &cli.StringFlag{Name: "events"}) {
		if name := f.Names()[0]; c.IsSet(name) && name != "strict" { // the task says it there
			bad.Add("", "--%s cannot be used with --server", name)
		}
	}
	if err := bad.Err("the flags do not fit together", "write it into the task"); err != nil {
		return err
	}
	task, err := p.taskForServer(c)
	if err != nil {
		return err
	}
	server, err := p.server(c)
	if err != nil {
		return err
	}
	defer server.Close()
	ctx, stop := p.interruptible(c.Context, nil)
	defer stop()
	v, err := server.Submit(ctx, task)
	if err != nil {
		return err
	}
	if c.Bool("detach") {
		return p.document(v)
	}
	if !c.Bool("quiet") {
		p.notef("run %s; \"sandboxrun runs logs --follow %s\" shows what it does", v.RunID, v.RunID)
	}
	return p.finishThrough(ctx, server, v.RunID)
}

// finishThrough prints the result of a run of the server. A signal cancels the run, whose result still comes.
func (p *program) finishThrough(ctx context.Context, server *client.Client, run string) error {
	doc, err := server.Wait(ctx, run)
	cause := context.Cause(ctx)
	if stopped := (document.Interrupted{}); errors.As(cause, &stopped) {
		late := context.WithoutCancel(ctx)
		if err := server.Cancel(late, run, stopped.Error()); err != nil {
			p.notef("%v", err) // it may have ended meanwhile
		}
		doc, err = server.Wait(late, run)
	}
	if err != nil {
		return err
	}
	var res document.Result
	if err := json.Unmarshal(doc, &res); err != nil {
		return fmt.Errorf("read result of run %s: %w", run, err)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, doc, "", "  "); err != nil {
		return fmt.Errorf("read result of run %s: %w", run, err)
	}
	if err := p.documentText(append(bytes.TrimSpace(text.Bytes()), '\n')); err != nil {
		p.notef("%v; \"sandboxrun runs show %s\" has the result", err, res.RunID)
	}
	if cause != nil {
		return exitError(document.ErrorExitCode(cause))
	}
	return exitError(document.ExitCode(&res, nil))
}

// taskForServer reads the task, and makes its repository an absolute path: the server has another directory.
func (p *program) taskForServer(c *cli.Context) ([]byte, error) {
	data, dir, repo, err := p.taskOf(c)
	if err != nil {
		return nil, err
	}
	task, err := document.DecodeFrom(data, dir, repo)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	about, _ := tree["context"].(map[string]any) // --repo may stand for all of it
	if about == nil {
		about = map[string]any{}
	}
	about["repo_root"] = task.Context.RepoRoot
	tree["context"] = about
	if c.Bool("strict") {
		tree["strict"] = true
	}
	return json.Marshal(tree)
}
