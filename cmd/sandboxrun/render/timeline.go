package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

// line is an event for a person to read: printable text of one line.
type line struct {
	text, color string
	plainOnly   bool // a terminal shows it differently
}

// describe formats an event as one line; events not worth one give no text.
func describe(e journal.Event) line {
	format, ok := formatters[e.Kind]
	if !ok {
		return line{}
	}
	l := format(e)
	l.text = Printable(l.text)
	return l
}

// formatter makes a formatter of a function that reads data of type T. Data of another shape gives no text.
func formatter[T any](text func(journal.Event, T) line) func(journal.Event) line {
	return func(e journal.Event) line {
		var data T
		if json.Unmarshal(e.Data, &data) != nil {
			return line{}
		}
		return text(e, data)
	}
}

// formatters has one entry for every kind of event that gets a line.
var formatters = map[string]func(journal.Event) line{
	journal.EventRunStarted: formatter(func(e journal.Event, d journal.RunStarted) line {
		return line{text: strings.TrimSpace("run " + e.Run + " " + d.Objective), color: ColorBold}
	}),
	journal.EventRunEnded: formatter(func(e journal.Event, d journal.RunEnded) line {
		return line{text: "run " + e.Run + " ended: " + string(d.Status), color: statusColor(string(d.Status))}
	}),
	journal.EventPhaseStarted: formatter(func(journal.Event, journal.PhaseStarted) line {
		return line{text: "started", plainOnly: true}
	}),
	journal.EventPhaseEnded: formatter(func(_ journal.Event, d journal.PhaseEnded) line {
		if d.Error != "" {
			return line{text: "failed after " + duration(d.DurationMS) + ": " + d.Error, color: ColorBad}
		}
		return line{text: "done in " + duration(d.DurationMS), color: ColorDim}
	}),
	journal.EventCommandOutput: formatter(func(_ journal.Event, d journal.CommandOutput) line { return commandLine(d.CommandRun) }),
	journal.EventFileChanged: formatter(func(_ journal.Event, d journal.FileChanged) line {
		return line{text: fmt.Sprintf("%s %s (+%d -%d)", d.ChangeType, d.Path, d.Additions, d.Deletions), color: ColorGood}
	}),
	journal.EventEgressDenied: formatter(func(_ journal.Event, d journal.EgressDenied) line { return deniedLine(d) }),
	journal.EventLimitReached: formatter(func(_ journal.Event, d journal.LimitReached) line {
		return line{text: string(d.Limit) + " limit reached" + because(d.Detail), color: ColorBad}
	}),
	journal.EventApprovalAnswered: formatter(func(_ journal.Event, d journal.ApprovalAnswered) line {
		if d.Allow {
			return line{}
		}
		return line{text: "tool call denied" + because(d.Reason), color: ColorWarn}
	}),
	journal.EventSystemMessage: formatter(func(_ journal.Event, d journal.SystemMessage) line {
		return line{text: d.Text, color: ColorDim}
	}),
	journal.EventErrorMessage: formatter(func(_ journal.Event, d agents.Message) line {
		return line{text: "error: " + d.Text, color: ColorBad}
	}),
	string(agents.KindAssistantMessage): formatter(func(_ journal.Event, d agents.Message) line {
		return line{text: "says: " + strings.TrimSpace(d.Text)}
	}),
	string(agents.KindToolCall): formatter(func(_ journal.Event, d agents.ToolCall) line { return toolLine(d) }),
	string(agents.KindToolResult): formatter(func(_ journal.Event, d agents.ToolResult) line {
		if d.Status == agents.StatusOK {
			return line{}
		}
		return line{text: "tool " + d.Status + because(d.Text), color: ColorWarn}
	}),
}

// commandLine describes a command that the runner ran. An agent's own commands appear with its tool calls.
func commandLine(d document.CommandRun) line {
	switch {
	case d.Source != "runner":
		return line{}
	case d.ExitCode == nil:
		return line{text: "$ " + d.Command + "  (did not end)", color: ColorBad}
	case *d.ExitCode != 0:
		return line{text: fmt.Sprintf("$ %s  (exit %d after %s)", d.Command, *d.ExitCode, duration(d.DurationMS)), color: ColorWarn}
	}
	return line{text: "$ " + d.Command + "  (" + duration(d.DurationMS) + ")", color: ColorNote}
}

// deniedLine describes a refused request, with its count if it stands for several.
func deniedLine(d journal.EgressDenied) line {
	reason := d.Reason
	what := strings.TrimSpace(d.Method + " " + d.Name)
	if d.Address != "" {
		reason += " (" + d.Address + ")"
	}
	text := "network denied: " + strings.TrimPrefix(what+because(reason), ": ")
	if d.Count > 1 {
		text += fmt.Sprintf(" (%d times)", d.Count)
	}
	return line{text: text, color: ColorWarn}
}

// toolLine names the subject of a tool call, by the input fields that the agents use for it; an input without any of
// them is shown whole.
func toolLine(d agents.ToolCall) line {
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
		return line{text: d.Tool + " $ " + subject, color: ColorNote}
	}
	return line{text: d.Tool + " " + subject, color: ColorNote}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// duration formats milliseconds for people.
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
	switch document.Status(status) {
	case document.StatusSuccess:
		return ColorGood
	case document.StatusPartial:
		return ColorWarn
	case document.StatusFailed:
		return ColorBad
	}
	return ""
}

// Timeline turns a run's events into lines with the time since its first event.
type Timeline struct{ began time.Time }

// Line formats one event, with colours where the terminal has them and cut to its width. It is empty for an event not
// worth a line.
func (t *Timeline) Line(e journal.Event, term Terminal) string {
	if t.began.IsZero() {
		t.began = e.Time
	}
	l := describe(e)
	if l.text == "" || term.IsTTY && l.plainOnly {
		return ""
	}
	head := fmt.Sprintf("%7.1fs  %-9s ", e.Time.Sub(t.began).Seconds(), Printable(e.Phase))
	room := 4 * defaultWidth
	if term.IsTTY {
		room = term.width
	}
	return term.Paint(ColorDim, head) + term.Paint(l.color, Fit(l.text, room-len(head)-1))
}
