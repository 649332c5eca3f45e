package config

import (
	"errors"
	"testing"

	"sandboxrun/runner/document"
)

func TestLimitsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for text, path := range map[string]string{
		`{"limits":{"runs":0}}`:              "/limits/runs",
		`{"limits":{"total_memory":"1m"}}`:   "/limits/total_memory",
		`{"limits":{"temp":"1k"}}`:           "/limits/temp",
		`{"limits":{"wait_seconds":-2}}`:     "/limits/wait_seconds",
		`{"limits":{"open_files":1}}`:        "/limits/open_files",
		`{"limits":{"idle_seconds":100000}}`: "/limits/idle_seconds",
	} {
		_, err := Decode([]byte(text))
		bad, ok := errors.AsType[*document.InputError](err)
		if !ok || len(bad.Details) != 1 || bad.Details[0].Path != path {
			t.Errorf("%s: %v", text, err)
		}
	}
}
