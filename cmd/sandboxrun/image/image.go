// Package image has the commands about the images of boxes: the one this program is tested with, and the user's own with
// agents on top.
package image

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	"sandboxrun/images"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox/docker"
)

// Host is what the commands need of the program.
type Host struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        func() []string
	// Engine prepares the container engine without a request to it.
	Engine func() (*docker.Engine, error)
	// Interruptible returns a context that a signal ends.
	Interruptible func(ctx context.Context) (context.Context, func())
	PrintJSON     func(v any) error
}

// Command is "image" with what is below it.
func Command(h Host) *cli.Command {
	return &cli.Command{
		Name:        "image",
		Usage:       "build, list and remove the images of boxes",
		Subcommands: []*cli.Command{h.buildCommand(), h.listCommand(), h.rmCommand(), h.pruneCommand()},
	}
}

var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"}

// withEngine calls do with the engine until a signal stops it.
func (h Host) withEngine(c *cli.Context, do func(context.Context, *docker.Engine) error) error {
	ctx, stop := h.Interruptible(c.Context)
	defer stop()
	eng, err := h.Engine()
	if err != nil {
		return err
	}
	defer func() { _ = eng.Close() }() // only idle connections are left
	return do(ctx, eng)
}

// shortID is the short form of an id, for people.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(len(id), 12)]
}

// imageAgents describes agents for the image.
func imageAgents(chosen []agents.Info) []images.Agent {
	var list []images.Agent
	for _, a := range chosen {
		list = append(list, images.Agent{
			Name: a.Name, Package: a.Package, Version: a.Version,
			Packages: a.Install.Packages, Script: a.Install.Script, Binary: a.Binary,
		})
	}
	return list
}

// ChooseAgents finds agents by name, each once; none means all.
func ChooseAgents(names []string) ([]agents.Info, error) {
	if len(names) == 0 {
		return Registered(), nil
	}
	var chosen []agents.Info
	for _, name := range names {
		a, ok := agents.Lookup(name)
		if !ok {
			return nil, &document.InputError{Message: fmt.Sprintf("no agent is called %q", name), Hint: "sandboxrun agents list"}
		}
		info := a.Info()
		if !slices.ContainsFunc(chosen, func(c agents.Info) bool { return c.Name == info.Name }) {
			chosen = append(chosen, info)
		}
	}
	return chosen, nil
}

// Registered describes every agent, by name.
func Registered() []agents.Info {
	var list []agents.Info
	for _, a := range agents.All() {
		list = append(list, a.Info())
	}
	return list
}

func describeAgents(list []agents.Info) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, a.Name+" "+a.Version)
	}
	return strings.Join(parts, ", ")
}
