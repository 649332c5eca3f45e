package transcript_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"sandboxrun/agents/scripted/transcript"
	"sandboxrun/sandbox"
)

// sayBox is a box whose process says one line.
type sayBox struct {
	echoBox

	line string
}

func (b sayBox) Exec(_ context.Context, c sandbox.Command) (sandbox.Exit, error) {
	_, _ = io.WriteString(c.Stdout, b.line+"\n")
	return sandbox.Exit{}, nil
}

func TestRecorderCutsListsAndNothingElse(t *testing.T) {
	t.Parallel()
	long := `["` + strings.Repeat("x", 1<<10) + `",{"list":[1]}]`
	for line, want := range map[string]string{
		`{"z":1,"list":` + long + `,"a":"\"list\":["}`: `{"z":1,"list":["cut from the recording"],"a":"\"list\":["}`,
		`{"list":[1,2]}`: `{"list":[1,2]}`,
		`{"list":[` + strings.Repeat(`"x",`, 300):              `"{\"list\":[`,
		`[{"list":` + long + `},{"list":` + long + `},"list"]`: `[{"list":["cut from the recording"]},{"list":["cut from the recording"]},"list"]`,
	} {
		rec := transcript.Record()
		rec.Cut("list", "other")
		var out strings.Builder
		if _, err := rec.Box(sayBox{line: line}).Exec(t.Context(), sandbox.Command{Argv: []string{"x"}, Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		if out.String() != line+"\n" {
			t.Errorf("the host heard %q", out.String())
		}
		entries, err := rec.Entries()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := transcript.Write(&b, entries); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("recorded %s, want %s", b.String(), want)
		}
	}
}
