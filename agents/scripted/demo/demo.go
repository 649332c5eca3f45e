// Package demo is the sample job: a small repository with a failing test, the
// task that has it mended, and the script by which the model server mends it
// where there is no account to ask a real model with.
package demo

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"

	"sandboxrun/agents/scripted/modelserver"
)

// The task of the sample job.
const (
	Objective    = "Make total.sh add its arguments, so that the test passes."
	Instructions = "Find out why test.sh fails and correct src/total.sh. Note the change in a new CHANGELOG.md, " +
		"delete the note in BUGS.md that it settles, and run sh test.sh at the end."
	// Acceptance is the command that fails before the job and passes after it.
	Acceptance = "sh test.sh"
)

//go:embed all:sample
var sample embed.FS

//go:embed scenario.json
var scenario []byte

// Files is the sample repository's working tree.
func Files() fs.FS {
	files, err := fs.Sub(sample, "sample")
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err)) // the directory is embedded
	}
	return files
}

// Scenario is the script of a model that does the job: it reads, edits, adds and
// deletes a file, and runs the test.
func Scenario() (modelserver.Scenario, error) {
	return modelserver.Load(bytes.NewReader(scenario))
}
