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
	"sandboxrun/runner/step"
	"sandboxrun/sandbox"
)

// A conversation is what the agent's CLI keeps of it below its home. It leaves
// a box as one archive and enters the next one as it is: here it is bytes that
// nobody looks into.

// talkForm is the form of the conversation ids that are handed to a CLI again:
// none can be taken for a flag.
var talkForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`)

// keptScript tells which of its arguments exist, one a line.
const keptScript = `cd "$HOME" && for p; do if [ -e "$p" ] || [ -L "$p" ]; then printf '%s\n' "$p"; fi; done`

// maxBoxWords bounds what is kept of what a command of ours says, in bytes.
const maxBoxWords = 8 << 10

// unsaved says that there is no conversation to keep.
func (x *run) unsaved() bool { return x.session == nil || x.box == nil || x.outcome == nil }

// save keeps the conversation before the box goes. What cannot be kept is told
// and nothing more: the session then stays at the conversation before.
func (x *run) save(ctx context.Context) error {
	err := step.Do(ctx, stepTalk, x.session.dir.talkPath(x.id), func() (err error) {
		x.session.kept, err = x.keepTalk(ctx)
		return err
	})
	if err != nil {
		x.loseTalk("the conversation of this run is not kept, and the next one will not know of it: "+err.Error(), flaw)
	}
	return nil
}

func (x *run) loseTalk(text string, s severity) {
	x.findings.add(s, Issue{Type: IssueEnv, Code: CodeSessionLost, Description: text,
		SuggestedAction: "tell the agent again what it should know, or begin another session"})
}

// keepTalk writes the conversation's archive; nil for an agent that keeps none.
func (x *run) keepTalk(ctx context.Context) (*Conversation, error) {
	keep := agents.Kept(x.agent.Info(), x.plan.Agent.Settings)
	if len(keep) == 0 {
		return nil, nil
	}
	id := x.outcome.SessionID
	if id == "" && x.session.talk != nil {
		id = x.session.talk.SessionID
	}
	if !talkForm.MatchString(id) {
		return nil, errors.New("the agent did not name it")
	}
	paths, err := x.keptPaths(ctx, keep)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("the agent left nothing of it")
	}
	n, err := x.archive(ctx, paths, x.session.dir.talkPath(x.id))
	if err != nil {
		return nil, err
	}
	return &Conversation{SessionID: id, RunID: x.id, Paths: paths, Bytes: n}, nil
}

// keptPaths lists those of the agent's paths that are there.
func (x *run) keptPaths(ctx context.Context, keep []string) ([]string, error) {
	var out bytes.Buffer
	if err := x.inBox(ctx, sandbox.Command{Argv: append([]string{"sh", "-c", keptScript, "sh"}, keep...), Stdout: &limitedWriter{to: &out, left: maxBoxWords}}); err != nil {
		return nil, err
	}
	said := strings.Split(out.String(), "\n")
	var paths []string
	for _, p := range keep {
		if slices.Contains(said, p) {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// archive has the box pack its files and returns how many bytes that took.
func (x *run) archive(ctx context.Context, paths []string, to string) (n int64, err error) {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	w := &limitedWriter{to: f, left: maxTalk}
	err = x.inBox(ctx, sandbox.Command{Argv: append([]string{"tar", "-C", sandbox.Home, "-cf", "-", "--"}, paths...), Stdout: w})
	if w.full {
		err = fmt.Errorf("its files take more than %d MiB", maxTalk>>20)
	}
	return maxTalk - w.left, errors.Join(err, f.Sync(), f.Close())
}

// recall puts the conversation so far into the box. The run ends here where that
// is not possible: an agent that has forgotten everything is not what was asked
// for.
func (x *run) recall(ctx context.Context) error {
	if x.session == nil || x.session.talk == nil {
		return nil
	}
	talk := x.session.talk
	f, err := os.Open(x.session.dir.talkPath(talk.RunID))
	if err != nil {
		return fmt.Errorf("restore conversation: %w", err)
	}
	defer f.Close()
	// Only what was kept is taken out, whatever else the archive may hold.
	argv := append([]string{"tar", "-C", sandbox.Home, "-xof", "-", "--"}, talk.Paths...)
	err = x.inBox(ctx, sandbox.Command{Argv: argv, Stdin: f})
	if failed := (*boxCommandError)(nil); errors.As(err, &failed) {
		x.loseTalk("the conversation so far cannot be restored: "+err.Error(), fatal)
		x.findings.stopped = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore conversation: %w", err)
	}
	return nil
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

// inBox runs a command of ours in the working box. HOME and PATH are the
// box's own, never the agent's.
func (x *run) inBox(ctx context.Context, c sandbox.Command) error {
	var errs bytes.Buffer
	c.Stderr = &cutWriter{to: &errs, left: maxBoxWords}
	exit, err := x.box.Exec(ctx, c)
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return &boxCommandError{name: c.Argv[0], code: exit.Code, stderr: clip(strings.TrimSpace(errs.String()), 500)}
	}
	return nil
}
