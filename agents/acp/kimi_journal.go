package acp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// kimiJournal is the journal that Kimi Code keeps of a session. Commands of the
// agent can write to it, as they can to everything below HOME: what it says is
// the agent's word, like the protocol's.
type kimiJournal struct {
	box  sandbox.Sandbox
	read int64 // bytes that were read already
}

const (
	// kimiJournalMax bounds what is read of the journal after a prompt, in bytes.
	kimiJournalMax = 1 << 20
	// kimiJournalScript prints the size of the journal, and of what comes after $3
	// bytes the lines that matter. With $4 it waits a few seconds for the line that
	// ends the turn, which the CLI writes about when it answers the prompt.
	kimiJournalScript = `
for f in "$1"/*/"$2"/agents/main/wire.jsonl; do [ -f "$f" ] && break; done
[ -f "$f" ] || { [ -z "$4" ]; exit; }
lines() { tail -c "+$(($3 + 1))" "$f" | grep -a -E '^\{"type":"(turn\.ended|usage\.record)"'; }
n=0
while [ -n "$4" ] && [ "$n" -lt 25 ] && ! lines "$@" | grep -q '^{"type":"turn.ended"'; do sleep 0.2; n=$((n + 1)); done
wc -c <"$f"
lines "$@" | tail -c 1048576
`
)

var (
	kimiSession = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

	errKimiSession = errors.New("not the name of a session")
	errKimiJournal = errors.New("the journal of the session does not say how the turn ended")
)

func (j *kimiJournal) skip(ctx context.Context, session string) error {
	_, err := j.lines(ctx, session, "")
	return err
}

func (j *kimiJournal) prompted(ctx context.Context, session string) (agents.Usage, *turnFault, error) {
	var u agents.Usage
	text, err := j.lines(ctx, session, "wait")
	if err != nil {
		return u, nil, err
	}
	ended := false
	var fault *turnFault
	for line := range strings.Lines(text) {
		var r kimiRecord
		if cli.Decode([]byte(line), &r) != nil {
			continue // cut, or not one of the CLI's
		}
		switch r.Type {
		case "usage.record":
			u.InputTokens += r.Usage.Other
			u.OutputTokens += r.Usage.Output
			u.CacheReadTokens += r.Usage.CacheRead
			u.CacheWriteTokens += r.Usage.CacheWrite
		case "turn.ended":
			ended, fault = true, r.fault()
		}
	}
	if !ended {
		return u, nil, errKimiJournal
	}
	return u, fault, nil
}

// lines returns the lines that came since the last call.
func (j *kimiJournal) lines(ctx context.Context, session, wait string) (string, error) {
	if !kimiSession.MatchString(session) {
		return "", fmt.Errorf("session %q: %w", cli.Head(session, maxID), errKimiSession)
	}
	out, errs := cli.NewTail(kimiJournalMax+64), cli.NewTail(cli.StderrKept)
	exit, err := j.box.Exec(ctx, sandbox.Command{
		Argv: []string{
			"timeout", "10", "sh", "-c", kimiJournalScript, "sh",
			path.Join(sandbox.Home, kimiSessions), session, strconv.FormatInt(j.read, 10), wait,
		},
		Stdout: out, Stderr: errs,
	})
	if err != nil {
		return "", fmt.Errorf("read the journal of the session: %w", err)
	}
	size, text, _ := strings.Cut(out.String(), "\n")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil || n < j.read {
		return "", fmt.Errorf("read the journal of the session: exit code %d: %s", exit.Code, errs.String())
	}
	j.read = n
	return text, nil
}

// kimiRecord is a line of the journal.
type kimiRecord struct {
	Type   string `json:"type"`
	Reason string `json:"reason"` // of turn.ended: completed, cancelled, failed, blocked
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Details struct {
			Status int `json:"statusCode"`
		} `json:"details"`
	} `json:"error"`
	Usage struct {
		Other      int64 `json:"inputOther"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"inputCacheRead"`
		CacheWrite int64 `json:"inputCacheCreation"`
	} `json:"usage"` // of usage.record
}

// fault says why a turn did not complete; nil where it did.
func (r kimiRecord) fault() *turnFault {
	if r.Reason == "completed" {
		return nil
	}
	f := turnFault{issue: issueCode(r.Error.Details.Status, r.Error.Message), code: r.Error.Details.Status, message: r.Error.Message}
	switch {
	case r.Error.Code == "provider.auth_error":
		f.issue = agents.CodeAuth
	case r.Error.Code == "provider.rate_limit":
		f.issue = agents.CodeQuota
	}
	if f.message == "" {
		f.message = "the agent's turn ended as " + strconv.Quote(cli.Head(r.Reason, maxID)) + " " + cli.Head(r.Error.Code, maxID)
	}
	f.message = cli.Head(f.message, cli.MaxWords)
	return &f
}
