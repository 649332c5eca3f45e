package usage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

func TestManualHasEveryVisibleCommandWithItsFlags(t *testing.T) {
	t.Parallel()
	app := &cli.App{Name: "tool", Usage: "does things", Description: "First.\n\nSecond.", Commands: []*cli.Command{
		{Name: "group", Subcommands: []*cli.Command{{
			Name: "do", ArgsUsage: "THING…", Usage: "do it", Description: ".dotted \\line\n\nExamples:\n   tool group do -x", Flags: []cli.Flag{
				&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE`"}, &cli.BoolFlag{Name: "quiet", Usage: "say nothing"},
				&cli.BoolFlag{Name: "secret", Hidden: true},
			},
		}}},
		{Name: "hidden", Hidden: true},
	}}
	got, err := Manual(app)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		".TH TOOL 1", ".SH NAME", `tool \- does things`, ".SH SYNOPSIS", ".B tool", ".I COMMAND", `[\fIOPTION\fR ...] [\fIARGUMENT\fR ...]`,
		".SH DESCRIPTION", "First.", ".PP", "Second.", ".SH COMMANDS", ".SS tool group do THING...", "do it.", ".PP", `\&.dotted \eline`, ".PP", "Examples:",
		".nf", `   tool group do \-x`, ".fi", ".TP", `\fB\-\-out, \-o FILE\fR`, "write to FILE", ".TP", `\fB\-\-quiet\fR`, "say nothing", "",
	}, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}
