package usage

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
)

// otherWords are words of other programs for commands of ours.
var otherWords = map[string]string{
	"ps": "runs list", "ls": "runs list", "logs": "runs logs", "show": "runs show", "diff": "runs diff", "exec": "execute", "start": "execute",
	"remove": "rm", "delete": "rm", "del": "rm", "log": "logs", "inspect": "show", "status": "runs list", "check": "doctor", "gc": "reap", "build": "image build",
}

// UnknownCommand is the error of a word that names no command of the one in the context.
func UnknownCommand(c *cli.Context) error {
	word := c.Args().First()
	err := &document.InputError{Message: fmt.Sprintf("no command is called %q", word), Hint: fmt.Sprintf("see %q", commandName(c)+" --help")}
	if meant := meantCommand(c, word); meant != "" {
		err.Message += fmt.Sprintf("; is %q meant?", meant)
	}
	return err
}

// meantCommand is the command a wrong word probably means, with the words before it.
func meantCommand(c *cli.Context, word string) string {
	cmds, before := c.Command.Subcommands, commandName(c)+" "
	if atRoot(c) {
		cmds = c.App.Commands
	}
	var names []string
	for _, cmd := range cmds {
		if !cmd.Hidden {
			names = append(names, cmd.Names()...)
		}
	}
	if near := document.Nearest(word, names); near != "" {
		return before + near
	}
	other := strings.Fields(otherWords[word])
	if len(other) == 0 || find(cmds, other[0]) == nil {
		return ""
	}
	return before + strings.Join(other, " ")
}

func atRoot(c *cli.Context) bool { return c.Command.Name == c.App.Name || c.Command.Name == "" }

func commandName(c *cli.Context) string {
	if c.Command.HelpName != "" {
		return c.Command.HelpName
	}
	return c.App.Name
}

// Failed turns an error of the library's parser of flags into one of ours, so that the library does not print its own
// text on standard output.
func Failed(c *cli.Context, err error, _ bool) error {
	bad := &document.InputError{Message: reason(err.Error()), Hint: fmt.Sprintf("see %q", commandName(c)+" --help")}
	if name, ok := strings.CutPrefix(err.Error(), unknownFlag); ok {
		bad.Message = fmt.Sprintf("%s has no flag %s", commandName(c), dashed(name))
		flags := c.Command.Flags
		if atRoot(c) {
			flags = c.App.Flags
		}
		if near := document.Nearest(name, flagNames(flags)); near != "" {
			bad.Message += fmt.Sprintf("; is %s meant?", dashed(near))
		}
	}
	return bad
}

// Beginnings of the messages of package flag, which has no types for them.
const (
	unknownFlag = "flag provided but not defined: -"
	noValue     = "flag needs an argument: -"
	badValue    = "invalid value "
	badBool     = "invalid boolean value "
	badSyntax   = "bad flag syntax: "
)

// reason is a message of package flag in the words of this program.
func reason(text string) string {
	if name, ok := strings.CutPrefix(text, noValue); ok {
		return fmt.Sprintf("flag %s needs a value", dashed(name))
	}
	if word, ok := strings.CutPrefix(text, badSyntax); ok {
		return fmt.Sprintf("%q is no flag", word)
	}
	for _, form := range []struct{ before, between, says string }{
		{badBool, " for -", "flag %s is true or false, not %s"},
		{badValue, " for flag -", "flag %s cannot be %s"},
	} {
		rest, ok := strings.CutPrefix(text, form.before)
		if !ok {
			continue
		}
		// The name holds no colon, but the value may hold anything: the last match is the library's.
		if i := strings.LastIndex(rest, form.between); i >= 0 {
			name, _, _ := strings.Cut(rest[i+len(form.between):], ":")
			return fmt.Sprintf(form.says, dashed(name), rest[:i])
		}
	}
	return text
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func flagNames(flags []cli.Flag) []string {
	names := []string{"help"}
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	return names
}
