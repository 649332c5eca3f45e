package usage

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
)

// overrides are the flags that take the place of a field of the task, by the field's pointer.
var overrides = map[string]string{
	"/agent": "agent", "/agent/variant": "variant", "/agent/model": "model",
	"/context/base": "base", "/session_id": "session", "/retry_process_id": "retry", "/land": "land",
	"/box/image": "image", "/box/runtime": "runtime", "/box/require_tier": "require-tier",
}

// InFlags names the flag, beside the field of the task that the flag replaced: nobody finds the field in the document.
func InFlags(c *cli.Context, err error) error {
	return Reword(err, func(path string) string {
		if flag := overrides[path]; flag != "" && c.IsSet(flag) {
			return "--" + flag
		}
		return ""
	})
}

// Reword begins the problems of an input error with what flagOf says their field comes from; with nothing where it says
// "". Other errors come back as they are.
func Reword(err error, flagOf func(path string) string) error {
	var bad *document.InputError
	if !errors.As(err, &bad) {
		return err
	}
	for i, d := range bad.Details {
		if flag := flagOf(d.Path); flag != "" && !strings.HasPrefix(d.Message, flag+": ") {
			bad.Details[i].Message = flag + ": " + d.Message
		}
	}
	return err
}
