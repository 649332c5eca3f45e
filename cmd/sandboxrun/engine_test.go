package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sandboxrun/images"
	"sandboxrun/internal/testenv"
)

// TestCommandsOnTheEngine runs the real program against the real engine. Its scripts use "exec sandboxrun", which
// finds the static one.
func TestCommandsOnTheEngine(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, images.Base)
	program := staticProgram(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "engine"),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", "")
			env.Setenv("XDG_STATE_HOME", "")
			env.Setenv("SANDBOXRUN_IMAGE", images.Base)
			env.Setenv("DOCKER_HOST", os.Getenv("DOCKER_HOST"))
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				env.Setenv("GIT_"+who+"_NAME", "tester")
				env.Setenv("GIT_"+who+"_EMAIL", "tester@example.org")
			}
			env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
	})
}
