package usage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

func TestArrangeMovesFlagsBeforePositionalArguments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		args, want []string
	}{
		{"flag after the task", []string{"execute", "task.json", "--quiet"}, []string{"execute", "--quiet", "--", "task.json"}},
		{"flag with a value", []string{"execute", "task.json", "--agent", "claude", "--land=none"},
			[]string{"execute", "--agent", "claude", "--land=none", "--", "task.json"}},
		{"standard input stays positional", []string{"execute", "-", "--events", "-"}, []string{"execute", "--events", "-", "--", "-"}},
		{"unknown flag stays a flag", []string{"execute", "task.json", "--nope"}, []string{"execute", "--nope", "--", "task.json"}},
		{"after the double dash nothing is a flag", []string{"execute", "--", "--quiet"}, []string{"execute", "--", "--quiet"}},
		{"subcommand", []string{"runs", "show", "ID", "--json"}, []string{"runs", "show", "--json", "--", "ID"}},
		{"value missing at the end", []string{"execute", "t", "--agent"}, []string{"execute", "--agent"}},
		{"group is left alone", []string{"runs", "nope", "--json"}, []string{"runs", "nope", "--json"}},
		{"help of a command", []string{"help", "runs", "show"}, []string{"runs", "show", "--help"}},
		{"help alone", []string{"help"}, []string{"--help"}},
		{"version as a flag", []string{"--version", "--json"}, []string{"version", "--json", "--"}},
		{"version as a letter", []string{"-v"}, []string{"version", "--"}},
		{"a task may be called help", []string{"execute", "help"}, []string{"execute", "--", "help"}},
		{"unknown command is left alone", []string{"nope", "--json"}, []string{"nope", "--json"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, got := Arrange(testApp(), append([]string{"sandboxrun"}, tc.args...))
			want := append([]string{"sandboxrun"}, tc.want...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// testApp has the kinds of commands and flags that the real program has.
func testApp() *cli.App {
	json := &cli.BoolFlag{Name: "json"}
	return &cli.App{Name: "sandboxrun", Commands: []*cli.Command{
		{Name: "execute", Flags: []cli.Flag{
			&cli.StringFlag{Name: "agent"}, &cli.StringFlag{Name: "land"}, &cli.StringFlag{Name: "events"}, &cli.BoolFlag{Name: "quiet"},
		}},
		{Name: "runs", Subcommands: []*cli.Command{
			{Name: "list", Aliases: []string{"ls"}, Flags: []cli.Flag{json}}, {Name: "show", Flags: []cli.Flag{json}}, {Name: "rm"},
		}},
		{Name: "version", Flags: []cli.Flag{json}},
		{Name: "guest", Hidden: true},
	}}
}
