package begin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

func (h Host) configCommand() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "write, show and check the configuration: init, show, check",
		Description: `The configuration is $SANDBOXRUN_CONFIG, or config.json in $XDG_CONFIG_HOME/sandboxrun
(~/.config/sandboxrun). Environment and flags override it.`,
		Subcommands: []*cli.Command{
			{
				Name:  "init",
				Usage: "write a first configuration; no existing file is replaced",
				Description: `Examples:
   sandboxrun config init`,
				Action: h.configInit,
			},
			{
				Name:  "show",
				Usage: "print the configuration that applies: defaults, file and environment",
				Description: `It names variables and files that hold keys, and holds no key.

Examples:
   sandboxrun config show`,
				Action: h.configShow,
			},
			{
				Name:  "check",
				Usage: "say whether the configuration is valid",
				Description: `Examples:
   sandboxrun config check`,
				Action: h.configCheck,
			},
		},
	}
}

// firstConfig is a configuration as a person begins it.
type firstConfig struct {
	Schema string         `json:"$schema"`
	Agent  string         `json:"default_agent"`
	Box    map[string]any `json:"box"`
}

func (h Host) configInit(*cli.Context) error {
	path, err := config.Path(h.Getenv)
	if err != nil {
		return err
	}
	c := config.Default()
	data, err := document.Encode(firstConfig{Schema: "urn:sandboxrun:schema:config", Agent: c.DefaultAgent, Box: map[string]any{"image": c.Box.Image}})
	if err != nil {
		return fmt.Errorf("encode configuration: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &document.InputError{Message: fmt.Sprintf("create the directory of the configuration: %v", err)}
	}
	if err := create(path, data); err != nil {
		return err
	}
	_, err = fmt.Fprintln(h.Stdout, h.Printable("wrote "+path))
	return err
}

func (h Host) configShow(*cli.Context) error {
	c, err := config.Load(h.Getenv)
	if err != nil {
		return err
	}
	data, err := document.Encode(c)
	if err != nil {
		return fmt.Errorf("encode configuration: %w", err)
	}
	_, err = h.Stdout.Write(data)
	return err
}

func (h Host) configCheck(*cli.Context) error {
	path, err := config.Path(h.Getenv)
	if err != nil {
		return err
	}
	if _, err := config.Load(h.Getenv); err != nil {
		return err
	}
	says := "is valid"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		says = "does not exist; the defaults apply"
	}
	_, err = fmt.Fprintln(h.Stdout, h.Printable(path+" "+says))
	return err
}
