package attack

import (
	"strings"
	"testing"
)

// Leaked must find the secret wherever it is.
func TestAScenesSecretIsFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Scene{
		"the result":           {Stdout: []byte("x " + Secret)},
		"the messages":         {Stderr: []byte(Secret)},
		"the patch":            {Patch: "+" + Secret},
		"the box's output":     {Output: Secret},
		"the landed file a/b":  {Landed: map[string]File{"a/b": {Content: Secret + "\n"}}},
		"the landed file link": {Landed: map[string]File{"link": {Mode: "120000", Content: Secret}}},
	} {
		if got := s.Leaked(); !strings.HasSuffix(got, name) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := (Scene{Stdout: []byte("nothing")}).Leaked(); got != "" {
		t.Errorf("nothing leaked, and Leaked returns %q", got)
	}
}
