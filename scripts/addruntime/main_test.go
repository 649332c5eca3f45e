package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"empty":            {"", `{"runtimes":{"runsc":{"path":"/r"}}}`},
		"blank":            {" \n", `{"runtimes":{"runsc":{"path":"/r"}}}`},
		"other settings":   {`{"data-root":"/d","debug":true}`, `{"data-root":"/d","debug":true,"runtimes":{"runsc":{"path":"/r"}}}`},
		"other runtimes":   {`{"runtimes":{"kata":{"path":"/k","runtimeArgs":["x"]}}}`, `{"runtimes":{"kata":{"path":"/k","runtimeArgs":["x"]},"runsc":{"path":"/r"}}}`},
		"already there":    {`{"runtimes":{"runsc":{"path":"/old"}}}`, `{"runtimes":{"runsc":{"path":"/r"}}}`},
		"null of runtimes": {`{"runtimes":null}`, `{"runtimes":{"runsc":{"path":"/r"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := add([]byte(tc.in), "runsc", "/r")
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("output is not JSON: %v", err)
			}
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddRefusesOtherInput(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"{", "[]", `{"runtimes":[]}`, `{"a":1}{"b":2}`} {
		if out, err := add([]byte(in), "runsc", "/r"); err == nil {
			t.Errorf("add(%q) = %s, want an error", in, out)
		}
	}
}
