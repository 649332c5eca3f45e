package codex

import (
	"fmt"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// maxPlanSteps bounds the steps of a plan that are shown.
const maxPlanSteps = 100

// note handles notices for people.
func (c *peer) note(f frame, text []byte) {
	var n struct {
		Message string `json:"message"`
		Summary string `json:"summary"`
		Details string `json:"details"`
		From    string `json:"fromModel"`
		To      string `json:"toModel"`
		Name    string `json:"name"`
		Status  string `json:"status"`
		Error   string `json:"error"`
	}
	if err := cli.Decode(cli.Object(f.Params), &n); err != nil {
		c.EmitUnknown(text)
		return
	}
	said := strings.TrimSpace(n.Message + n.Summary + "\n" + n.Details)
	switch {
	case f.Method == "model/rerouted":
		said = fmt.Sprintf("the model was changed from %s to %s", n.From, n.To)
	case f.Method == "mcpServer/startupStatus/updated":
		if n.Status == "failed" || n.Error != "" {
			c.ReportServer(n.Name, n.Error)
		}
		if n.Status != "starting" {
			c.served(n.Name)
		}
		return
	case strings.Contains(said, "bubblewrap"):
		return // its own sandbox is not used
	}
	if said != "" {
		c.Emit(agents.KindSystemMessage, agents.Message{Text: cli.Head(said, cli.MaxWords)})
	}
}

// plan handles the model's list of what it is about to do.
func (c *peer) plan(f frame, text []byte) {
	var p struct {
		Explanation string `json:"explanation"`
		Plan        []struct {
			Step   string `json:"step"`
			Status string `json:"status"`
		} `json:"plan"`
	}
	if err := cli.Decode(cli.Object(f.Params), &p); err != nil {
		c.EmitUnknown(text)
		return
	}
	lines := []string{"plan:"}
	if p.Explanation != "" {
		lines[0] = "plan: " + p.Explanation
	}
	marks := map[string]string{"completed": "x", "inProgress": ">"}
	for i, s := range p.Plan {
		if i == maxPlanSteps {
			lines = append(lines, "…")
			break
		}
		mark := marks[s.Status]
		if mark == "" {
			mark = " "
		}
		lines = append(lines, fmt.Sprintf("[%s] %s", mark, s.Step))
	}
	c.Emit(agents.KindSystemMessage, agents.Message{Text: cli.Head(strings.Join(lines, "\n"), cli.MaxWords)})
}
