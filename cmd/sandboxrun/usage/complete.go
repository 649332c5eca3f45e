package usage

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
)

// completionFlag is the library's, with which a shell asks for what may follow.
const completionFlag = "--generate-bash-completion"

// Completes says that a command line only asks what may follow.
func Completes(args []string) bool { return len(args) > 1 && args[len(args)-1] == completionFlag }

// Values list what may follow a flag, by its name with dashes, or stand for an argument, by its name in ArgsUsage.
type Values map[string]func() []string

// Suggest writes what may follow the words of a command line that ends in cmd, one a line. Flags are only listed where
// the last word begins with a dash. The last word of words is completionFlag.
func Suggest(w io.Writer, cmd *cli.Command, words []string, values Values) {
	last := ""
	if len(words) > 1 {
		last = words[len(words)-2]
	}
	if strings.HasPrefix(last, "-") {
		if list, takes := values[last]; takes && slices.Contains(allFlags(cmd), last) {
			write(w, list())
			return
		}
		write(w, allFlags(cmd))
		return
	}
	for _, sub := range cmd.Subcommands {
		if !sub.Hidden {
			write(w, []string{sub.Name})
		}
	}
	if fixed := strings.Split(cmd.ArgsUsage, "|"); len(fixed) > 1 && !strings.ContainsAny(cmd.ArgsUsage, ".-") {
		write(w, fixed)
	}
	argument, _, _ := strings.Cut(strings.Trim(cmd.ArgsUsage, "[]…"), " ")
	if list := values[strings.TrimRight(argument, "…")]; list != nil {
		write(w, list())
	}
}

func allFlags(cmd *cli.Command) []string {
	var names []string
	for _, name := range flagNames(cmd.Flags) {
		names = append(names, dashed(name))
	}
	return names
}

// write leaves out what a shell would read as more than one word.
func write(w io.Writer, list []string) {
	for _, word := range list {
		if !strings.ContainsAny(word, " \t\n\\'\"`$") {
			fmt.Fprintln(w, word)
		}
	}
}

// Scripts are what shells read to complete the program's command lines, by the name of the shell.
var Scripts = map[string]string{
	"bash": `# Completes the command lines of sandboxrun. Words come from the program itself.
_sandboxrun() {
	local current="${COMP_WORDS[COMP_CWORD]}" words=("${COMP_WORDS[@]:0:COMP_CWORD}")
	if [[ $current == -* ]]; then words+=("$current"); fi
	mapfile -t COMPREPLY < <(compgen -W "$("${words[@]}" ` + completionFlag + ` 2>/dev/null)" -- "$current")
}
complete -o default -F _sandboxrun sandboxrun
`,
	"zsh": `#compdef sandboxrun
# Completes the command lines of sandboxrun. Words come from the program itself.
_sandboxrun() {
	local -a words_before found
	words_before=("${(@)words[1,CURRENT-1]}")
	if [[ "${words[CURRENT]}" == -* ]]; then words_before+=("${words[CURRENT]}"); fi
	found=("${(@f)$("${words_before[@]}" ` + completionFlag + ` 2>/dev/null)}")
	if (( ${#found} )) && [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = "_sandboxrun" ]; then _sandboxrun "$@"; else compdef _sandboxrun sandboxrun; fi
`,
	"fish": `# Completes the command lines of sandboxrun. Words come from the program itself.
function __sandboxrun_words
	set -l before (commandline -opc)
	set -l current (commandline -ct)
	if string match -q -- '-*' $current
		set -a before $current
	end
	command $before ` + completionFlag + ` 2>/dev/null
end
complete -c sandboxrun -a '(__sandboxrun_words)'
`,
}

// Script is the completion script of a shell.
func Script(shell string) (string, error) {
	if text, ok := Scripts[shell]; ok {
		return text, nil
	}
	return "", &document.InputError{Message: fmt.Sprintf("no completion for shell %q", shell), Hint: "bash, zsh or fish"}
}
