package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// column is one feature, and the test that shows it: %s is the agent.
type column struct{ title, test string }

// columns in the order of the table.
var columns = []column{
	{"edit, add, delete, run", "TestConformance/%s/work"},
	{"the same in a whole run", "TestEveryAgentMendsARepository/%s"},
	{"under gVisor", "TestEveryAgentMendsARepositoryUnderGVisor/%s"},
	{"approval denied", "TestConformance/%s/denied"},
	{"approval times out", "TestEveryAgentsRequestTimesOut/%s"},
	{"asks questions", "TestConformance/%s/question"},
	{"key refused", "TestConformance/%s/refused_key"},
	{"rate limit passes", "TestConformance/%s/rate_limit_passes"},
	{"rate limit stays", "TestConformance/%s/rate_limit_stays"},
	{"stream cut, then whole", "TestConformance/%s/cut_passes"},
	{"stream always cut", "TestConformance/%s/cut_stays"},
	{"provider silent", "TestConformance/%s/silence"},
	{"cancelled in mid-command", "TestConformance/%s/cancel"},
	{"follow-up in a new box", "TestEveryAgentRemembersInANewBox/%s"},
	{"hostile repository", "TestConformance/%s/hostile_repository"},
	{"MCP servers of the task", "TestConformance/%s/mcp"},
	{"PLAN changes nothing", "TestEveryAgentOnlyPlansInPLAN/%s"},
}

// marker is the test whose subtests name the agents, in this package: other packages have a conformance suite of that
// name too.
const (
	marker        = "TestConformance/"
	markerPackage = "sandboxrun/agents/conformance"
)

// matrix holds the results of the agents' tests.
type matrix struct {
	agents  []string
	results map[string]string // by name of the test: pass, fail or skip
}

func readMatrix(in io.Reader) (matrix, error) {
	m := matrix{results: map[string]string{}}
	agents := map[string]bool{}
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if bytes.HasPrefix(line, []byte("{")) {
			var e struct {
				Action  string `json:"Action"`
				Package string `json:"Package"`
				Test    string `json:"Test"`
			}
			if json.Unmarshal(line, &e) == nil && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") && strings.Contains(e.Test, "/") &&
				(e.Package == markerPackage || !strings.HasPrefix(e.Test, marker)) {
				m.results[e.Test] = e.Action
				if name, rest, ok := strings.Cut(strings.TrimPrefix(e.Test, marker), "/"); ok && rest != "" && strings.HasPrefix(e.Test, marker) {
					agents[name] = true
				}
			}
		}
		if errors.Is(err, io.EOF) {
			m.agents = slices.Sorted(maps.Keys(agents))
			return m, nil
		}
		if err != nil {
			return m, err
		}
	}
}

// complete reports whether every cell has a result.
func (m matrix) complete() bool {
	for _, c := range columns {
		for _, a := range m.agents {
			if m.results[fmt.Sprintf(c.test, a)] == "" {
				return false
			}
		}
	}
	return len(m.agents) > 0
}

// cells are the signs of results.
var cells = map[string]string{"pass": "✓", "fail": "✗", "skip": "–"}

// table is the matrix as Markdown, one row per feature.
func (m matrix) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(m.agents, " | "), strings.Repeat(":-:|", len(m.agents)))
	for _, c := range columns {
		fmt.Fprintf(&b, "| %s |", c.title)
		for _, a := range m.agents {
			fmt.Fprintf(&b, " %s |", cells[m.results[fmt.Sprintf(c.test, a)]])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
