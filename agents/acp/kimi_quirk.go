package acp

import (
	"regexp"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

func kimiQuirks(t agents.Turn) quirks {
	return quirks{
		model:     kimiModelOf(t),
		tool:      func(u *sessionUpdate) string { return u.announced },
		mcp:       func(tool string) bool { return strings.HasPrefix(tool, "mcp__") },
		writes:    true,
		asked:     kimiAsked,
		guard:     "sandboxrun/guarded",
		exit:      kimiExit,
		questions: kimiQuestions,
	}
}

// kimiExit is the last line of what a failed command printed.
var kimiExit = regexp.MustCompile(`(?:^|\n)Command failed with exit code: (\d{1,3})\.\s*$`)

// kimiAsked is the command line that a request names.
func kimiAsked(text string) string {
	_, line, _ := strings.Cut(text, "Requesting approval to Running: ")
	return line
}

// kimiQuestion is the tool by which the model asks the user.
const kimiQuestion = "AskUserQuestion"

// kimiQuestions reads what a permission request asks the user: the first of the
// questions of the call, whose options are those of the request.
func kimiQuestions(u *sessionUpdate) []agents.Question {
	if u.announced != kimiQuestion {
		return nil
	}
	var in struct {
		Questions []struct {
			Question string                  `json:"question"`
			Options  []agents.QuestionOption `json:"options"`
		} `json:"questions"`
	}
	if cli.Decode(cli.Object(u.Input), &in) != nil || len(in.Questions) == 0 {
		return []agents.Question{{ID: "0", Text: cli.Head(string(u.input()), cli.MaxWords)}}
	}
	q := in.Questions[0]
	return []agents.Question{{ID: "0", Text: q.Question, Options: q.Options}}
}
