// Package begin is the shortest way into the program: a task made of one sentence, a first task file made after a look
// at a repository, and a first configuration.
package begin

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/document"
)

// Host is what the commands need of the program.
type Host struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Flags are those of execute, which run has as well.
	Flags []cli.Flag
	// Check compiles a task without running it.
	Check func(c *cli.Context, task []byte) error
	// Execute runs a task, and keeps its text with the run.
	Execute func(c *cli.Context, task []byte) error
	// Printable makes text safe to show.
	Printable func(string) string
}

// Commands are run, init and config.
func Commands(h Host) []*cli.Command {
	return []*cli.Command{h.runCommand(), h.initCommand(), h.configCommand()}
}

// repository returns the root of the repository that holds a directory.
func repository(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	repo, err := gitdiff.Open(path)
	if err == nil {
		return repo.Root(), repo.Close()
	}
	if inside, ok := errors.AsType[*gitdiff.RootError](err); ok {
		return inside.Root, nil
	}
	bad := &document.InputError{Message: err.Error(), Hint: "go to a git repository, or name one with --repo"}
	if errors.Is(err, gitdiff.ErrNotRepository) {
		bad.Message = path + " is in no git repository"
		bad.Hint += `; "git init" and a first commit make one`
	}
	return "", bad
}

var repoFlag = &cli.StringFlag{Name: "repo", Usage: "`DIR` of the repository, or below it", Value: "."}
