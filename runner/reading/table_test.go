package reading

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every row reads its own examples, and nothing reads what is only near to them as the row would.
func TestEveryPatternReadsItsExamples(t *testing.T) {
	t.Parallel()
	for _, row := range loadTable().Patterns {
		if len(row.Yes) == 0 || len(row.No) == 0 {
			t.Errorf("%s %v: a pattern needs sentences that it reads and some that it does not", row.Kind, row.Forms)
		}
		for _, s := range row.Yes {
			r := Default().Read("", s)
			if len(r.Checks) == 0 || r.Rest != "" {
				t.Errorf("%s: %q: read as %+v, rest %q, %s", row.Kind, s, r.Checks, r.Rest, r.Reason)
				continue
			}
			for _, c := range r.Checks {
				if kindOf(c) != row.Kind {
					t.Errorf("%q: read as %s, want %s", s, kindOf(c), row.Kind)
				}
			}
		}
		for _, s := range row.No {
			for _, c := range Default().Read("", s).Checks {
				if kindOf(c) == row.Kind {
					t.Errorf("%q: read as %s %s", s, c.Object(), c.Words)
				}
			}
		}
	}
}

func kindOf(c Check) string {
	if c.Command != "" {
		return commandKind
	}
	return c.Kind
}
