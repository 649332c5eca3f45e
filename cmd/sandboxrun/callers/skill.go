package callers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
	"sandboxrun/skill"
)

// Skill is "skill".
func (m Commands) Skill() *cli.Command {
	place := []cli.Flag{
		&cli.StringFlag{Name: "project", Usage: "in `DIR`/.claude/skills, for everybody who works on that repository"},
		&cli.StringFlag{Name: "plugin", Usage: "as a plugin and its marketplace in `DIR`"},
		&cli.StringFlag{Name: "name", Value: skill.DefaultName, Usage: "call the skill `NAME`"},
	}
	force := &cli.BoolFlag{Name: "force", Usage: "also replace files that were changed by hand"}
	return &cli.Command{
		Name:  "skill",
		Usage: "install the skill for Claude Code: install, check, remove",
		Description: `The skill tells Claude Code when and how to hand a settled task to sandboxrun, how to
read the result, and what to do where nothing can run. Without --project or --plugin
it belongs to the user: ~/.claude/skills, or below $CLAUDE_CONFIG_DIR.`,
		Subcommands: []*cli.Command{
			{Name: "install", Usage: "write the skill's files, all or none", Flags: append(slices.Clone(place), force), Action: m.skillInstall,
				Description: `A file that was changed by hand is not replaced without --force; nothing is written
then. Other files in the directories stay.

Examples:
   sandboxrun skill install
   sandboxrun skill install --project .
   sandboxrun skill install --plugin plugin`},
			{Name: "check", Usage: "say whether the skill is installed, of this version, and unchanged",
				Flags: append(slices.Clone(place), &cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"}), Action: m.skillCheck,
				Description: `Exits with 0 when every file is as this version has it, and with 2 otherwise.

Examples:
   sandboxrun skill check
   sandboxrun skill check --json`},
			{Name: "remove", Usage: "remove the skill's files", Flags: append(slices.Clone(place), force), Action: m.skillRemove,
				Description: `Directories that are not empty then stay.

Examples:
   sandboxrun skill remove
   sandboxrun skill remove --project .`},
		},
	}
}

// validName is what Claude Code takes as the name of a skill.
var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// skillTarget is the place that the flags name, and the files for it.
func (m Commands) skillTarget(c *cli.Context, create bool) (t skill.Target, files []skill.File, dir string, err error) {
	name, project, plugin := c.String("name"), c.String("project"), c.String("plugin")
	switch {
	case c.Args().Present():
		return t, nil, "", &document.InputError{Message: fmt.Sprintf("takes no argument, got %q", c.Args().First()), Hint: `see "sandboxrun skill --help"`}
	case !validName.MatchString(name):
		return t, nil, "", &document.InputError{Message: "--name must be at most 64 letters a-z, digits and hyphens"}
	case project != "" && plugin != "":
		return t, nil, "", &document.InputError{Message: "--project and --plugin cannot be used together"}
	}
	t.Version = m.Version()
	switch {
	case project != "":
		// A repository is there already; a mistyped one shall not be made.
		dir, create = project, false
		files, t.Record = skill.Files(name, ".claude/skills/"), ".claude/skills/"+name
	case plugin != "":
		dir = plugin
		files, t.Record = skill.Plugin(name, m.Version()), "."
	default:
		home := m.Getenv("CLAUDE_CONFIG_DIR")
		if home == "" && m.Getenv("HOME") == "" {
			return t, nil, "", &document.InputError{Message: "neither CLAUDE_CONFIG_DIR nor HOME is set", Hint: "name the place with --project"}
		}
		if home == "" {
			home = filepath.Join(m.Getenv("HOME"), ".claude")
		}
		dir = filepath.Join(home, "skills")
		files, t.Record = skill.Files(name, ""), name
	}
	if create {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return t, nil, "", fmt.Errorf("install skill: %w", err)
		}
	}
	t.Root, err = os.OpenRoot(dir)
	return t, files, dir, err
}

func (m Commands) skillInstall(c *cli.Context) error {
	t, files, dir, err := m.skillTarget(c, true)
	if err != nil {
		return placeError(dir, err)
	}
	defer func() { _ = t.Root.Close() }() // nothing was written through it
	if err := changed(t.Install(files, c.Bool("force"))); err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.Out, "installed in %s\n", filepath.Join(dir, t.Record))
	return err
}

func (m Commands) skillRemove(c *cli.Context) error {
	t, files, dir, err := m.skillTarget(c, false)
	if errors.Is(err, os.ErrNotExist) && c.String("project") == "" && c.String("plugin") == "" {
		return nil // there is nothing
	}
	if err != nil {
		return placeError(dir, err)
	}
	defer func() { _ = t.Root.Close() }() // nothing was written through it
	return changed(t.Remove(files, c.Bool("force")))
}

func (m Commands) skillCheck(c *cli.Context) error {
	t, files, dir, err := m.skillTarget(c, false)
	var entries []skill.Entry
	installed := ""
	switch {
	case errors.Is(err, os.ErrNotExist):
		for _, f := range files {
			entries = append(entries, skill.Entry{Path: f.Path, State: skill.Missing})
		}
	case err != nil:
		return placeError(dir, err)
	default:
		defer func() { _ = t.Root.Close() }() // nothing was written through it
		if entries, installed, err = t.Check(files); err != nil {
			return err
		}
	}
	current := !slices.ContainsFunc(entries, func(e skill.Entry) bool { return e.State != skill.Current })
	if c.Bool("json") {
		err = m.PrintJSON(struct {
			Dir       string        `json:"dir"`
			Current   bool          `json:"current"`
			Installed string        `json:"installed_version"`
			Version   string        `json:"version"`
			Files     []skill.Entry `json:"files"`
		}{dir, current, installed, t.Version, entries})
	} else {
		for _, e := range entries {
			if _, err = fmt.Fprintf(m.Out, "%-8s %s\n", e.State, filepath.Join(dir, e.Path)); err != nil {
				break
			}
		}
	}
	if err != nil || current {
		return err
	}
	return &document.InputError{Message: "the skill in " + dir + " is not the one of this version", Hint: `"sandboxrun skill install" writes it`}
}

// placeError is about a directory that cannot be opened.
func placeError(dir string, err error) error {
	if bad := (*document.InputError)(nil); errors.As(err, &bad) {
		return err
	}
	return &document.InputError{Message: fmt.Sprintf("%s cannot be used: %s", dir, strings.TrimPrefix(err.Error(), "open "+dir+": "))}
}

// changed turns the refusal to replace files into an error of the caller's.
func changed(err error) error {
	if bad, ok := errors.AsType[*skill.ChangedError](err); ok {
		return &document.InputError{Message: bad.Error(), Hint: "nothing was written or removed; keep a copy of what you want to keep, and use --force"}
	}
	return err
}
