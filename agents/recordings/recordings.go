// Package recordings holds what is known of each agent CLI by having watched
// it: the names and inputs of its own tools, and transcripts of its protocol
// below its version. `make record` writes those, see package transcript.
package recordings

import (
	"embed"
	"encoding/json"
	"path"
	"slices"
)

// files are the small ones: the transcripts themselves are for tests only.
//
//go:embed */tools.json */*/index.json
var files embed.FS

// Index says what was recorded of one version of a CLI.
type Index struct {
	Agent     string   `json:"agent"`
	Version   string   `json:"version"`
	Scenarios []string `json:"scenarios"` // each has a transcript and its events beside the index
}

// Tools is the tools.json of an agent, see package kit. The error is
// fs.ErrNotExist for an agent that has none.
func Tools(agent string) ([]byte, error) { return files.ReadFile(path.Join(agent, "tools.json")) }

// Versions lists the versions of an agent's CLI whose transcripts are here.
func Versions(agent string) []string {
	entries, err := files.ReadDir(agent)
	if err != nil {
		return nil // nothing is known of this agent
	}
	var list []string
	for _, e := range entries {
		if e.IsDir() && len(Scenarios(agent, e.Name())) > 0 {
			list = append(list, e.Name())
		}
	}
	slices.Sort(list)
	return list
}

// Scenarios lists what was recorded of one version of an agent's CLI, sorted.
func Scenarios(agent, version string) []string {
	b, err := files.ReadFile(path.Join(agent, version, "index.json"))
	if err != nil {
		return nil
	}
	var i Index
	if json.Unmarshal(b, &i) != nil || i.Agent != agent || i.Version != version {
		return nil // a test of this package fails
	}
	return i.Scenarios
}
