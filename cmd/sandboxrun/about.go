package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
	"sandboxrun/schemas"
)

// release is set by the linker for released builds (-X main.release=v1.2.3).
var release = ""

// versionInfo says which build this is.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // commit it was built from
	Modified bool   `json:"modified"`           // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildVersion() versionInfo {
	v := versionInfo{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if release != "" {
		v.Version = release
	}
	return v
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version of this program",
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			v := buildVersion()
			if c.Bool(jsonFlag.Name) {
				return p.printJSON(v)
			}
			_, err := fmt.Fprintf(p.stdout, "sandboxrun %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
}

func (p *program) schemaCommand() *cli.Command {
	names := strings.Join(schemas.Names(), "|")
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of a document",
		ArgsUsage: names,
		Description: `Prints one of the schemas that every document of this program is valid against
(JSON Schema, draft 2020-12).

Examples:
   sandboxrun schema task
   sandboxrun schema result`,
		Action: func(c *cli.Context) error {
			name, err := oneArgument(c, names)
			if err != nil {
				return err
			}
			text, err := schemas.ByName(name)
			if err != nil {
				return &document.InputError{Message: err.Error()}
			}
			_, err = p.stdout.Write(text)
			return err
		},
	}
}
