package modelserver

import (
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, err string }{
		"whole":             {`{"name":"x","steps":[{"text":"a","tools":[{"name":"Bash","input":{"command":"ls"}}]},{"fault":{"status":529},"times":-1}]}`, ""},
		"unknown field":     {`{"steps":[{"txt":"a"}]}`, "unknown field"},
		"no error status":   {`{"steps":[{"fault":{"status":200}}]}`, "not an error status"},
		"tool without name": {`{"steps":[{"tools":[{"input":{}}]}]}`, "needs a name"},
		"two documents":     {`{} {}`, "more than one document"},
		"no json":           {`steps`, "decode scenario"},
		"too long":          {`{"name":"` + strings.Repeat("x", maxScenarioBytes) + `"}`, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(strings.NewReader(tc.in))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error = %v, want %q", err, tc.err)
			}
		})
	}
}

func TestStartRefusesABadScenario(t *testing.T) {
	t.Parallel()
	if _, err := Start(Scenario{Steps: []Step{{Fault: &Fault{Status: 1}}}}); err == nil {
		t.Error("no error")
	}
}
