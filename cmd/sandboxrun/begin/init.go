package begin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
)

// schemaName is what $schema of a task says; "sandboxrun schema task" prints the schema with this name.
const schemaName = "urn:sandboxrun:schema:task"

func (h Host) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a first task file for a repository",
		ArgsUsage: "[SENTENCE]",
		Description: `Looks at the files in the root of the repository (package manager, lock files,
tests) and writes a task with the command that runs its tests, and what has to be
fetched before. The sentence says what is wanted. No existing file is replaced.

Examples:
   sandboxrun init --output -
   sandboxrun init "make the tests pass"`,
		Flags: []cli.Flag{
			repoFlag,
			&cli.StringFlag{Name: "output", Usage: "`FILE` to write, - for standard output", Value: "task.json"},
		},
		Action: h.init,
	}
}

// firstTask is a task as a person begins it: the fields in the order in which they are read.
type firstTask struct {
	Schema       string               `json:"$schema"`
	Objective    string               `json:"objective"`
	Context      document.TaskContext `json:"context"`
	Instructions string               `json:"instructions"`
	Setup        []string             `json:"setup_commands,omitempty"`
	Criteria     []document.Criterion `json:"acceptance_criteria,omitempty"`
}

func (h Host) init(c *cli.Context) error {
	root, err := repository(c.String(repoFlag.Name))
	if err != nil {
		return err
	}
	output := c.String("output")
	found := Look(root)
	t := firstTask{Schema: schemaName, Objective: strings.TrimSpace(strings.Join(c.Args().Slice(), " ")),
		Context: document.TaskContext{RepoRoot: root}, Setup: found.Setup}
	if t.Objective == "" {
		t.Objective = "Say here in one or two sentences what is wanted."
	}
	t.Instructions = t.Objective
	if found.Check != "" {
		t.Criteria = []document.Criterion{{Command: found.Check}}
	}
	if output != "-" {
		t.Context.RepoRoot = from(output, root)
	}
	data, err := document.Encode(t)
	if err != nil {
		return fmt.Errorf("encode task: %w", err)
	}
	if output == "-" {
		_, err := h.Stdout.Write(data)
		return err
	}
	if err := create(output, data); err != nil {
		return err
	}
	h.explain(output, found)
	return nil
}

// from is the repository as a task file names it: relative where the file is in the repository, so that both can move.
func from(file, root string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return root
	}
	if inside, err := filepath.Rel(root, dir); err != nil || !filepath.IsLocal(inside) {
		return root
	}
	back, err := filepath.Rel(dir, root)
	if err != nil {
		return root
	}
	return back
}

func create(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &document.InputError{Message: name + " exists, and no file is replaced", Hint: "remove it, or name another one"}
	case err != nil:
		return &document.InputError{Message: fmt.Sprintf("create %s: %v", name, err)}
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (h Host) explain(output string, found Project) {
	say := func(format string, args ...any) { fmt.Fprintln(h.Stderr, h.Printable(fmt.Sprintf(format, args...))) }
	say("wrote %s", output)
	if len(found.Kinds) == 0 {
		say("found no project this program knows: add acceptance_criteria with a command that must pass")
	} else {
		say("found %s; the image of the box needs %s", strings.Join(found.Kinds, ", "), strings.Join(found.Tools, ", "))
		if found.Check == "" {
			say("found no command that runs the tests: add acceptance_criteria")
		}
	}
	if len(found.Setup) > 0 {
		say("%s downloads: add the hosts it needs to box.network.allow of the task", strings.Join(found.Setup, "; "))
	}
	say("edit it, then: sandboxrun execute %s", output)
}
