package claude

import (
	"encoding/json"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// questionTool is the tool by which the model asks the user.
const questionTool = "AskUserQuestion"

// readQuestions reads the questions of a call. The CLI keys answers by the
// question's text.
func readQuestions(input json.RawMessage) []agents.Question {
	var in struct {
		Questions []struct {
			Question string                  `json:"question"`
			Multiple bool                    `json:"multiSelect"`
			Options  []agents.QuestionOption `json:"options"`
		} `json:"questions"`
	}
	if cli.Decode(input, &in) != nil || len(in.Questions) == 0 || len(in.Questions) > cli.MaxQuestions {
		// Something is asked that cannot be shown piece by piece.
		return []agents.Question{{ID: "", Text: cli.Head(string(input), cli.MaxWords)}}
	}
	var list []agents.Question
	for _, q := range in.Questions {
		list = append(list, agents.Question{ID: q.Question, Text: q.Question, Options: q.Options, Multiple: q.Multiple})
	}
	return list
}

// answeredInput is the input of a call with the user's answers in it.
func answeredInput(r agents.ApprovalRequest, d agents.Decision) json.RawMessage {
	var in map[string]json.RawMessage
	if json.Unmarshal(r.Input, &in) != nil || in == nil {
		in = map[string]json.RawMessage{}
	}
	answers := map[string]string{}
	for id, chosen := range d.Answers {
		answers[id] = strings.Join(chosen, ", ")
	}
	b, err := json.Marshal(answers)
	if err != nil {
		b = []byte("{}") // strings always marshal
	}
	in["answers"] = b
	out, err := json.Marshal(in)
	if err != nil {
		return r.Input // raw messages that were decoded always marshal
	}
	return out
}
