package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner"
)

// line is an event told to a person: printable text of one line.
type line struct {
	text, color string
	plainOnly   bool // a terminal shows it in another way
}

// eventData is every field of any event that a line is made from; what an event
// does not have stays empty.
type eventData struct {
	Text       string          `json:"text"`
	Tool       string          `json:"tool"`
	Action     agents.Action   `json:"action"`
	Input      json.RawMessage `json:"input"`
	Command    string          `json:"command"`
	ExitCode   *int            `json:"exit_code"`
	Source     string          `json:"source"`
	DurationMS int64           `json:"duration_ms"`
	Error      string          `json:"error"`
	Objective  string          `json:"objective"`
	Engine     string          `json:"engine"`
	Status     string          `json:"status"`
	Limit      string          `json:"limit"`
	Detail     string          `json:"detail"`
	Allow      bool            `json:"allow"`
	Host       string          `json:"host"`
	Reason     string          `json:"reason"`
	Path       string          `json:"path"`
	ChangeType string          `json:"change_type"`
	Additions  int             `json:"additions"`
	Deletions  int             `json:"deletions"`
}

// describe tells an event in one line; events not worth one give no text.
func describe(e runner.Event) line {
	var d eventData
	if json.Unmarshal(e.Data, &d) != nil {
		return line{} // data of a shape nobody tells lines about
	}
	tell, ok := tellers[e.Kind]
	if !ok {
		return line{}
	}
	l := tell(e, d)
	l.text = printable(l.text)
	return l
}

// tellers has one entry for every kind of event that gets a line.
var tellers = map[string]func(runner.Event, eventData) line{
	runner.EventRunStarted: func(e runner.Event, d eventData) line {
		return line{text: strings.TrimSpace("run " + e.Run + " " + d.Objective), color: colorBold}
	},
	runner.EventRunEnded: func(e runner.Event, d eventData) line {
		return line{text: "run " + e.Run + " ended: " + d.Status, color: statusColor(d.Status)}
	},
	runner.EventPhaseStarted: func(runner.Event, eventData) line {
		return line{text: "started", plainOnly: true}
	},
	runner.EventPhaseEnded: func(_ runner.Event, d eventData) line {
		took := "done in " + duration(d.DurationMS)
		if d.Error != "" {
			return line{text: "failed after " + duration(d.DurationMS) + ": " + d.Error, color: colorBad}
		}
		return line{text: took, color: colorDim}
	},
	runner.EventCommandOutput: func(_ runner.Event, d eventData) line {
		if d.Source != "runner" {
			return line{}
		}
		return commandLine(d)
	},
	runner.EventFileChanged: func(_ runner.Event, d eventData) line {
		return line{text: fmt.Sprintf("%s %s (+%d -%d)", d.ChangeType, d.Path, d.Additions, d.Deletions), color: colorGood}
	},
	runner.EventEgressDenied: func(_ runner.Event, d eventData) line {
		return line{text: "network denied: " + cmp.Or(d.Host, d.Detail) + because(d.Reason), color: colorWarn}
	},
	runner.EventLimitReached: func(_ runner.Event, d eventData) line {
		return line{text: d.Limit + " limit reached" + because(d.Detail), color: colorBad}
	},
	runner.EventApprovalAnswered: func(_ runner.Event, d eventData) line {
		if d.Allow {
			return line{}
		}
		return line{text: "tool call denied" + because(d.Reason), color: colorWarn}
	},
	runner.EventSystemMessage: func(_ runner.Event, d eventData) line { return line{text: d.Text, color: colorDim} },
	runner.EventErrorMessage:  func(_ runner.Event, d eventData) line { return line{text: "error: " + d.Text, color: colorBad} },
	string(agents.KindAssistantMessage): func(_ runner.Event, d eventData) line {
		return line{text: "says: " + strings.TrimSpace(d.Text)}
	},
	string(agents.KindToolCall): func(_ runner.Event, d eventData) line { return toolLine(d) },
	string(agents.KindToolResult): func(_ runner.Event, d eventData) line {
		if d.Status == "ok" {
			return line{}
		}
		return line{text: "tool " + d.Status + because(d.Text), color: colorWarn}
	},
}

func commandLine(d eventData) line {
	switch {
	case d.ExitCode == nil:
		return line{text: "$ " + d.Command + "  (did not end)", color: colorBad}
	case *d.ExitCode != 0:
		return line{text: fmt.Sprintf("$ %s  (exit %d after %s)", d.Command, *d.ExitCode, duration(d.DurationMS)), color: colorWarn}
	}
	return line{text: "$ " + d.Command + "  (" + duration(d.DurationMS) + ")", color: colorNote}
}

// toolLine names what a tool is called on, by the input fields that the agents
// use for it; an input without any of them is shown as it is.
func toolLine(d eventData) line {
	var in map[string]any
	subject := string(d.Input)
	if json.Unmarshal(d.Input, &in) == nil {
		for _, field := range []string{"command", "file_path", "path", "pattern", "query", "url", "description"} {
			if s, ok := in[field].(string); ok {
				subject = s
				break
			}
		}
	}
	if d.Action == agents.ActionCommand {
		return line{text: d.Tool + " $ " + subject, color: colorNote}
	}
	return line{text: d.Tool + " " + subject, color: colorNote}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// duration writes milliseconds the way people read them.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// shortDuration is duration for numbers that are compared with each other.
func shortDuration(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf("%d ms", ms)
	}
	return duration(ms)
}

func statusColor(status string) string {
	switch runner.Status(status) {
	case runner.StatusSuccess:
		return colorGood
	case runner.StatusPartial:
		return colorWarn
	case runner.StatusFailed:
		return colorBad
	}
	return ""
}
