package main

import (
	"fmt"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/begin"
	"sandboxrun/cmd/sandboxrun/render"
)

// taskFile is the task that "run" made, in the directory of its run.
const taskFile = "task.json"

// beginCommands are the commands that need no task file.
func (p *program) beginCommands() []*cli.Command {
	return begin.Commands(begin.Host{
		Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, Flags: p.executeFlags(), Printable: render.Printable,
		Check: func(c *cli.Context, task []byte) error {
			_, err := p.compileTask(c, task, "", "")
			return err
		},
		Execute: func(c *cli.Context, task []byte) error {
			p.output, p.compact = c.String("output"), c.String("events") == "-"
			plan, err := p.compileTask(c, task, "", "")
			if err != nil {
				return err
			}
			return p.executePlan(c, plan, task)
		},
	})
}

// keepTask writes the task into the directory of its run, without the keys of this host.
func (p *program) keepTask(id string, task []byte) error {
	st, err := p.state()
	if err != nil {
		return err
	}
	dir, err := st.Find(id)
	if err != nil {
		return err
	}
	path := dir.Path(taskFile)
	if err := renameio.WriteFile(path, p.secrets().JSON(task), 0o600); err != nil {
		return fmt.Errorf("keep the task: %w", err)
	}
	p.notef("the task is kept in %s", path)
	return nil
}
