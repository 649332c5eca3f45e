package pi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/sandbox"
)

func TestAsksForToolsOfMCPServers(t *testing.T) {
	for _, allow := range []bool{true, false} {
		t.Run(map[bool]string{true: "allowed", false: "denied"}[allow], func(t *testing.T) {
			j := newJob(t, map[string]string{"mini.mjs": agentstest.EchoServer},
				agentstest.Uses(modelserver.Tool("mcp__my_mini__echo", map[string]string{"x": "<world>"})), modelserver.Step{Text: "done"})
			j.Turn.MCP = []agents.Server{
				{Name: "my-mini", Command: "node", Args: []string{sandbox.WorkDir + "/mini.mjs"}, Env: map[string]string{"GREETING": "hello"}},
				{Name: "far", URL: "http://127.0.0.1:9/mcp", Headers: map[string]string{"X-Team": "a"}},
			}
			results := j.CallEcho("mcp__my_mini__echo", allow)
			last := results[len(results)-1]
			if allow && (last.Status != agents.StatusOK || !strings.Contains(last.Text, "hello <world>")) || !allow && last.Status != agents.StatusDenied {
				t.Errorf("results = %+v", results)
			}
			if said := strings.Join(j.Host.Texts(agents.KindSystemMessage), "|"); !strings.Contains(said, "MCP server far is not connected") || strings.Contains(said, "server my-mini") {
				t.Errorf("said %q", said)
			}
		})
	}
}

// remoteServer is an MCP server at an address, with a tool that fails, one that
// tells the header it was called with, and one that says more than anybody reads.
func remoteServer(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name    string `json:"name"`
			Version string `json:"protocolVersion"`
		} `json:"params"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	flood := ""
	if m.Params.Name == "flood" {
		flood = strings.Repeat("\\u0001", 6<<20)
	}
	result := map[string]string{
		"initialize": `{"protocolVersion":"` + m.Params.Version + `","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"team.name","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}},{"name":"flood","inputSchema":{"type":"object"}}]}`,
		"tools/call": `{"content":[{"type":"text","text":"team ` + r.Header.Get("X-Team") + flood + `"}],"isError":` + strconv.FormatBool(m.Params.Name == "fail") + `}`,
	}[m.Method]
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func TestCallsToolsOfServersAtAnAddress(t *testing.T) {
	far := httptest.NewServer(http.HandlerFunc(remoteServer))
	t.Cleanup(far.Close)
	j := newJob(t, nil, agentstest.Uses(modelserver.Tool("mcp__far__team_name", map[string]string{})),
		agentstest.Uses(modelserver.Tool("mcp__far__fail", map[string]string{})), agentstest.Uses(modelserver.Tool("mcp__far__flood", map[string]string{})),
		modelserver.Step{Text: "done"})
	j.Turn.MCP = []agents.Server{{Name: "far", URL: far.URL + "/mcp", Headers: map[string]string{"X-Team": "blue"}}}
	if o := j.MustRun(); o.End != agents.EndClean || len(j.Host.Asked) != 3 {
		t.Errorf("outcome = %+v, asked for %+v", o, j.Host.Asked)
	}
	results := agentstest.Of[agents.ToolResult](j.Host)
	if len(results) != 3 || results[0].Status != agents.StatusOK || results[1].Status != agents.StatusError || results[0].Text != "team blue" {
		t.Fatalf("%d results, %.300v", len(results), results)
	}
	if r := results[2]; r.Status != agents.StatusOK || len(r.Text) < 100<<10 || !strings.HasSuffix(r.Text, "characters are left out]") {
		t.Errorf("the flood is %s of %d bytes", r.Status, len(r.Text))
	}
}
