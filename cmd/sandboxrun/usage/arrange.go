// Package usage puts the words of a command line in order for the library, and says what wrong ones were meant to be.
package usage

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Arrange finds the command that args name and moves its flags before its positional arguments, because the library
// stops looking for flags at the first positional one. Unknown flags stay flags, so that they are refused by name.
// Arguments after "--" are left alone. With a help flag the library would take positional arguments for help topics;
// they are dropped. "help COMMAND" becomes "COMMAND --help", and --version or -v the command version. The command is
// nil when none matched.
func Arrange(app *cli.App, args []string) (*cli.Command, []string) {
	args = habits(args)
	var cmd *cli.Command
	at, cmds := 1, app.Commands
	for at < len(args) {
		next := find(cmds, args[at])
		if next == nil {
			break
		}
		cmd, cmds, at = next, next.Subcommands, at+1
	}
	if cmd == nil || len(cmd.Subcommands) > 0 {
		return cmd, args
	}
	return cmd, append(args[:at:at], permute(cmd.Flags, args[at:])...)
}

// habits rewrites what every other program understands into commands and flags of ours.
func habits(args []string) []string {
	if len(args) < 2 {
		return args
	}
	switch args[1] {
	case "--version", "-version", "-v", "-V":
		return append([]string{args[0], "version"}, args[2:]...)
	case "help":
		words := append([]string{args[0]}, args[2:]...)
		return append(words, "--help")
	}
	return args
}

func find(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

func permute(flags []cli.Flag, args []string) []string {
	var front, back []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			back = append(back, args[i+1:]...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			back = append(back, arg)
			continue
		}
		if name := strings.TrimLeft(arg, "-"); name == "help" || name == "h" {
			return []string{arg}
		}
		front = append(front, arg)
		if !takesValue(flags, arg) {
			continue
		}
		if i++; i == len(args) {
			return front // the parser then names the flag that lacks its value
		}
		front = append(front, args[i])
	}
	return append(append(front, "--"), back...)
}

// takesValue reports whether arg is a known flag whose value is the next word.
func takesValue(flags []cli.Flag, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	name := strings.TrimLeft(arg, "-")
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok || !doc.TakesValue() {
			continue
		}
		if slices.Contains(f.Names(), name) {
			return true
		}
	}
	return false
}
