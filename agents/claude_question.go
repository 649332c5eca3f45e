package agents

import (
	"encoding/json"
	"strings"
)

// claudeAsk is the tool by which the model asks the user.
const claudeAsk = "AskUserQuestion"

// maxQuestions bounds the questions of one request; the CLI allows four.
const maxQuestions = 16

// claudeQuestions reads the questions of a call. The CLI keys answers by the
// question's text.
func claudeQuestions(input json.RawMessage) []Question {
	var in struct {
		Questions []struct {
			Question string           `json:"question"`
			Multiple bool             `json:"multiSelect"`
			Options  []QuestionOption `json:"options"`
		} `json:"questions"`
	}
	if decode(input, &in) != nil || len(in.Questions) == 0 || len(in.Questions) > maxQuestions {
		// Something is asked that cannot be shown piece by piece.
		return []Question{{ID: "", Text: head(string(input), maxWords)}}
	}
	var list []Question
	for _, q := range in.Questions {
		list = append(list, Question{ID: q.Question, Text: q.Question, Options: q.Options, Multiple: q.Multiple})
	}
	return list
}

// claudeAnswered is the input of a call with the user's answers in it.
func claudeAnswered(r ApprovalRequest, d Decision) json.RawMessage {
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
