package agents

import (
	"fmt"
	"strings"
)

// maxPlanSteps bounds the steps of a plan that are shown.
const maxPlanSteps = 100

// note handles notices for people.
func (c *codexTurn) note(f codexFrame, text []byte) {
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
	if err := decode(object(f.Params), &n); err != nil {
		c.strange(text)
		return
	}
	said := strings.TrimSpace(n.Message + n.Summary + "\n" + n.Details)
	switch {
	case f.Method == "model/rerouted":
		said = fmt.Sprintf("the model was changed from %s to %s", n.From, n.To)
	case f.Method == "mcpServer/startupStatus/updated" && n.Error == "":
		return
	case f.Method == "mcpServer/startupStatus/updated":
		said = fmt.Sprintf("MCP server %s: %s: %s", n.Name, n.Status, n.Error)
	case strings.Contains(said, "bubblewrap"):
		return // its own sandbox is not used
	}
	if said != "" {
		c.emit(KindSystemMessage, Message{Text: head(said, maxWords)})
	}
}

// plan handles the model's list of what it is about to do.
func (c *codexTurn) plan(f codexFrame, text []byte) {
	var p struct {
		Explanation string `json:"explanation"`
		Plan        []struct {
			Step   string `json:"step"`
			Status string `json:"status"`
		} `json:"plan"`
	}
	if err := decode(object(f.Params), &p); err != nil {
		c.strange(text)
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
	c.emit(KindSystemMessage, Message{Text: head(strings.Join(lines, "\n"), maxWords)})
}
