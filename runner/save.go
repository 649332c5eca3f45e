package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

var stepTalk = step.Define("talk/keep")

// A conversation is what the agent's CLI keeps of it below its home. It leaves
// a box as one archive and enters the next one unchanged: the host never unpacks
// it.

// conversationForm is the form of the conversation ids that are passed to a CLI
// again: none can be taken for a flag.
var conversationForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`)

// existingScript prints those of its arguments that exist, one a line.
const existingScript = `cd "$HOME" && for p; do if [ -e "$p" ] || [ -L "$p" ]; then printf '%s\n' "$p"; fi; done`

// maxBoxMessage bounds what is kept of the output of a command of ours, in bytes.
const maxBoxMessage = 8 << 10

// skipSave says that there is no conversation to keep.
func skipSave(x *run) bool {
	return x.session == nil || x.boxes.working == nil || x.evidence.outcome == nil
}

// save keeps the conversation before the box is removed. What cannot be kept is
// reported and nothing more: the session then stays at the conversation before.
func save(ctx context.Context, x *run) error {
	step.Before(stepTalk)
	kept, err := x.keepConversation(ctx)
	step.After(stepTalk)
	x.session.kept = kept
	if err != nil {
		x.sessionLost("the conversation of this run is not kept, and the next one will not know of it: "+err.Error(), document.SeverityFlaw)
	}
	return nil
}

// keepConversation writes the conversation's archive; nil for an agent that keeps
// none.
func (x *run) keepConversation(ctx context.Context) (*state.Conversation, error) {
	keep := agents.Kept(x.agent.Info(), x.plan.Agent.Settings)
	if len(keep) == 0 {
		return nil, nil
	}
	id := x.evidence.outcome.SessionID
	if id == "" && x.session.conversation != nil {
		id = x.session.conversation.SessionID
	}
	if !conversationForm.MatchString(id) {
		return nil, errors.New("the agent did not name it")
	}
	paths, err := x.boxes.working.existing(ctx, keep)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("the agent left nothing of it")
	}
	n, err := x.boxes.working.archive(ctx, paths, x.session.dir.ConversationPath(x.id))
	if err != nil {
		return nil, err
	}
	return &state.Conversation{SessionID: id, RunID: x.id, Paths: paths, Bytes: n}, nil
}

// restoreConversation unpacks the conversation so far in the box. The run ends
// here where that is not possible: an agent that has forgotten everything is not
// what the caller wants.
func (x *run) restoreConversation(ctx context.Context) error {
	if x.session == nil || x.session.conversation == nil {
		return nil
	}
	c := x.session.conversation
	f, err := os.Open(x.session.dir.ConversationPath(c.RunID))
	if err != nil {
		return fmt.Errorf("restore conversation: %w", err)
	}
	defer f.Close()
	// Only what was kept is unpacked, whatever else the archive may hold.
	argv := append([]string{"tar", "-C", sandbox.Home, "-xof", "-", "--"}, c.Paths...)
	err = x.boxes.working.command(ctx, sandbox.Command{Argv: argv, Stdin: f})
	if failed := (*boxCommandError)(nil); errors.As(err, &failed) {
		x.sessionLost("the conversation so far cannot be restored: "+err.Error(), document.SeverityFatal)
		x.report.stopped = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore conversation: %w", err)
	}
	return nil
}

// existing lists those of the paths below the box's home that exist.
func (b *box) existing(ctx context.Context, paths []string) ([]string, error) {
	var out bytes.Buffer
	argv := append([]string{"sh", "-c", existingScript, "sh"}, paths...)
	if err := b.command(ctx, sandbox.Command{Argv: argv, Stdout: &excerpt.LimitedWriter{To: &out, Left: maxBoxMessage}}); err != nil {
		return nil, err
	}
	printed := strings.Split(out.String(), "\n")
	var there []string
	for _, p := range paths {
		if slices.Contains(printed, p) {
			there = append(there, p)
		}
	}
	return there, nil
}

// archive has the box pack files of its home and returns the archive's size in
// bytes.
func (b *box) archive(ctx context.Context, paths []string, to string) (n int64, err error) {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	w := &excerpt.LimitedWriter{To: f, Left: state.MaxConversation}
	err = b.command(ctx, sandbox.Command{Argv: append([]string{"tar", "-C", sandbox.Home, "-cf", "-", "--"}, paths...), Stdout: w})
	if w.Full {
		err = fmt.Errorf("its files take more than %d MiB", state.MaxConversation>>20)
	}
	return state.MaxConversation - w.Left, errors.Join(err, f.Sync(), f.Close())
}

// boxCommandError is a command of ours that ran in the box and failed.
type boxCommandError struct {
	name   string
	code   int
	stderr string
}

func (e *boxCommandError) Error() string {
	return fmt.Sprintf("%s exited with %d: %s", e.name, e.code, e.stderr)
}

// command runs a command of ours in the box. HOME and PATH are the box's own,
// never the agent's.
func (b *box) command(ctx context.Context, c sandbox.Command) error {
	var errs bytes.Buffer
	c.Stderr = &excerpt.CutWriter{To: &errs, Left: maxBoxMessage}
	exit, err := b.Exec(ctx, c)
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return &boxCommandError{name: c.Argv[0], code: exit.Code, stderr: excerpt.Clip(strings.TrimSpace(errs.String()), 500)}
	}
	return nil
}
