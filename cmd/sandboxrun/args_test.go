package main

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"unknown command is left alone", []string{"nope", "--json"}, []string{"nope", "--json"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, got := arrange(testProgram().app(), append([]string{"sandboxrun"}, tc.args...))
			want := append([]string{"sandboxrun"}, tc.want...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// testProgram is a program without environment, streams or exit.
func testProgram() *program {
	return &program{
		stdout: io.Discard, stderr: io.Discard,
		getenv:  func(string) string { return "" },
		environ: func() []string { return nil },
		exit:    func(int) { panic("exit called") },
	}
}
