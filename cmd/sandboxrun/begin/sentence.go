package begin

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/usage"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/sandbox"
)

// maxSentence bounds what is read from standard input, in bytes; maxObjective is the schema's bound of an objective.
const (
	maxSentence  = 200_000
	maxObjective = 4000
)

func (h Host) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a task that is one sentence, in the repository of this directory",
		ArgsUsage: "SENTENCE|-",
		Description: `Makes a task of the sentence ("-" reads it from standard input) and runs it like
"execute", on the repository that holds the current directory. --check names a
command that must exit with 0 in a fresh box on the changed files: without one
nothing is measured. The task is kept with the run, as task.json.

Examples:
   sandboxrun run "make the tests pass" --check "npm test"
   sandboxrun run "explain the failure in src/total.sh" --file src/total.sh --variant PLAN
   sandboxrun run "fix the build" --check make --protect "test/**" --time 20m
   sandboxrun run "make the tests pass" --check "npm test" --plan`,
		Flags: append([]cli.Flag{
			repoFlag,
			&cli.StringSliceFlag{Name: "check", Usage: "`COMMAND` that must exit with 0 afterwards (repeatable)"},
			&cli.StringSliceFlag{Name: "setup", Usage: "`COMMAND` that prepares the box, with the network of --allow-host (repeatable)"},
			&cli.StringSliceFlag{Name: "file", Usage: "`FILE` the agent is pointed to (repeatable)"},
			&cli.StringSliceFlag{Name: "protect", Usage: "`GLOB` of paths that must not change (repeatable)"},
			&cli.DurationFlag{Name: "time", Usage: "limit of the whole task, such as 90s or 20m (default: 10m)"},
			&cli.BoolFlag{Name: "plan", Usage: "print the task instead of running it"},
		}, h.Flags...),
		Action: h.run,
	}
}

func (h Host) run(c *cli.Context) error {
	sentence, err := h.sentence(c)
	if err != nil {
		return err
	}
	t, err := task(c, sentence)
	if err != nil {
		return err
	}
	data, err := document.Encode(t)
	if err != nil {
		return fmt.Errorf("encode task: %w", err)
	}
	if c.Bool("plan") {
		if err := h.Check(c, data); err != nil {
			return fields(err)
		}
		_, err = h.Stdout.Write(data)
		return err
	}
	if !c.Bool("quiet") {
		h.show(t)
	}
	return fields(h.Execute(c, data))
}

// sentence is the text of the task.
func (h Host) sentence(c *cli.Context) (string, error) {
	text := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(h.Stdin, maxSentence+1))
		if err != nil {
			return "", &document.InputError{Message: fmt.Sprintf("read the sentence: %v", err)}
		}
		if len(data) > maxSentence {
			return "", &document.InputError{Message: fmt.Sprintf("the sentence has more than %d bytes", maxSentence)}
		}
		text = strings.TrimSpace(string(data))
	}
	if text == "" {
		return "", &document.InputError{Message: "needs a sentence that says what is wanted", Hint: `sandboxrun run "make the tests pass" --check "npm test"`}
	}
	if info, err := os.Stat(text); err == nil && info.Mode().IsRegular() && filepath.Ext(text) == ".json" {
		return "", &document.InputError{Message: fmt.Sprintf("%q is a file, not a sentence", text), Hint: "sandboxrun execute " + text}
	}
	return text, nil
}

// task makes the task of a sentence and the flags.
func task(c *cli.Context, sentence string) (*document.Task, error) {
	root, err := repository(c.String(repoFlag.Name))
	if err != nil {
		return nil, err
	}
	t := &document.Task{Objective: excerpt.Clip(sentence, maxObjective), Instructions: sentence, Context: document.TaskContext{RepoRoot: root}}
	for _, name := range c.StringSlice("file") {
		path, err := below(root, name)
		if err != nil {
			return nil, err
		}
		t.Context.FilesOfInterest = append(t.Context.FilesOfInterest, path)
	}
	for _, command := range c.StringSlice("check") {
		t.AcceptanceCriteria = append(t.AcceptanceCriteria, document.Criterion{Command: command})
	}
	overridden(c, t)
	t.SetupCommands, t.ProtectedPaths = c.StringSlice("setup"), c.StringSlice("protect")
	if c.IsSet("time") {
		limit := c.Duration("time")
		if limit < time.Second {
			return nil, &document.InputError{Message: "--time must be at least 1s", Hint: "write it like 90s, 20m or 1h30m"}
		}
		t.MaxRuntimeSeconds = int(limit.Round(time.Second) / time.Second)
	}
	return t, nil
}

// overridden puts into the task what the flags of execute say, so that the task alone says all.
func overridden(c *cli.Context, t *document.Task) {
	if a := (document.AgentChoice{Name: c.String("agent"), Variant: c.String("variant"), Model: c.String("model")}); a.Name != "" || a.Variant != "" || a.Model != "" {
		t.Agent = &a
	}
	t.Context.Base, t.Land, t.SessionID = c.String("base"), document.Land(c.String("land")), c.String("session")
	b := document.BoxRequest{Image: c.String("image"), Runtime: c.String("runtime"), RequireTier: sandbox.Tier(c.String("require-tier"))}
	if hosts := c.StringSlice("allow-host"); len(hosts) > 0 {
		b.Network = &document.NetworkRequest{Allow: hosts}
	}
	if b.Image != "" || b.Runtime != "" || b.RequireTier != "" || b.Network != nil {
		t.Box = &b
	}
}

// below gives the path in the repository of a file that is named from the current directory.
func below(root, name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	// The root has no symbolic links, the current directory may.
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &document.InputError{Message: fmt.Sprintf("--file %s is not in the repository %s", name, root)}
	}
	if _, err := os.Lstat(path); err != nil {
		return "", &document.InputError{Message: fmt.Sprintf("--file %s does not exist", name)}
	}
	return rel, nil
}

// show prints what the task is, and what it lacks.
func (h Host) show(t *document.Task) {
	line := func(name, text string) { fmt.Fprintf(h.Stderr, "%-10s %s\n", name, h.Printable(text)) }
	line("repository", t.Context.RepoRoot)
	line("task", excerpt.Clip(strings.Join(strings.Fields(t.Objective), " "), 200))
	for _, check := range t.AcceptanceCriteria {
		line("check", check.Command)
	}
	if len(t.AcceptanceCriteria) > 0 {
		return
	}
	advice := "--check COMMAND names a command that must pass"
	if found := Look(t.Context.RepoRoot); found.Check != "" {
		advice = fmt.Sprintf("--check %q would", found.Check)
	}
	line("no check", "nothing will measure the outcome; "+advice)
}

// flagOf are the flags of run by the field of the task that each becomes.
var flagOf = map[string]string{
	"/objective": "the sentence", "/instructions": "the sentence", "/acceptance_criteria": "--check", "/setup_commands": "--setup",
	"/context/files_of_interest": "--file", "/protected_paths": "--protect", "/max_runtime_seconds": "--time", "/context/repo_root": "--repo",
}

// fields names the flag where an error names a field of the task that the flag became.
func fields(err error) error {
	return usage.Reword(err, func(path string) string {
		for field, flag := range flagOf {
			if path == field || strings.HasPrefix(path, field+"/") {
				return flag
			}
		}
		return ""
	})
}
