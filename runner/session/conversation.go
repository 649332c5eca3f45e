package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

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

// Keep writes the archive of the conversation; keep are the paths below the home that
// it needs, none for an agent that keeps nothing. id is the agent's name of it, "" where
// the agent gave none.
func (s *Turn) Keep(ctx context.Context, b sandbox.Sandbox, run, id string, keep []string) error {
	if len(keep) == 0 {
		return nil
	}
	if id == "" && s.conversation != nil {
		id = s.conversation.SessionID
	}
	if !conversationForm.MatchString(id) {
		return errors.New("the agent did not name it")
	}
	paths, err := existing(ctx, b, keep)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return errors.New("the agent left nothing of it")
	}
	n, err := archive(ctx, b, paths, s.dir.ConversationPath(run))
	if err != nil {
		return err
	}
	s.kept = &state.Conversation{SessionID: id, RunID: run, Paths: paths, Bytes: n}
	return nil
}

// Restore unpacks the conversation so far, if there is one, in a box. A
// *CommandError says that the box could not.
func (s *Turn) Restore(ctx context.Context, b sandbox.Sandbox) error {
	if s == nil || s.conversation == nil {
		return nil
	}
	c := s.conversation
	f, err := os.Open(s.dir.ConversationPath(c.RunID))
	if err != nil {
		return fmt.Errorf("restore conversation: %w", err)
	}
	defer f.Close()
	// Only what was kept is unpacked, whatever else the archive may hold.
	argv := append([]string{"tar", "-C", sandbox.Home, "-xof", "-", "--"}, c.Paths...)
	err = command(ctx, b, sandbox.Command{Argv: argv, Stdin: f})
	if failed := (*CommandError)(nil); err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("restore conversation: %w", err)
	}
	return err
}

// existing lists those of the paths below the box's home that exist.
func existing(ctx context.Context, b sandbox.Sandbox, paths []string) ([]string, error) {
	var out bytes.Buffer
	argv := append([]string{"sh", "-c", existingScript, "sh"}, paths...)
	if err := command(ctx, b, sandbox.Command{Argv: argv, Stdout: &excerpt.LimitedWriter{To: &out, Left: maxBoxMessage}}); err != nil {
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
func archive(ctx context.Context, b sandbox.Sandbox, paths []string, to string) (n int64, err error) {
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
	err = command(ctx, b, sandbox.Command{Argv: append([]string{"tar", "-C", sandbox.Home, "-cf", "-", "--"}, paths...), Stdout: w})
	if w.Full {
		err = fmt.Errorf("its files take more than %d MiB", state.MaxConversation>>20)
	}
	return state.MaxConversation - w.Left, errors.Join(err, f.Sync(), f.Close())
}

// CommandError is a command of ours that ran in the box and failed.
type CommandError struct {
	name   string
	code   int
	stderr string
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("%s exited with %d: %s", e.name, e.code, e.stderr)
}

// command runs a command of ours in the box. HOME and PATH are the box's own,
// never the agent's.
func command(ctx context.Context, b sandbox.Sandbox, c sandbox.Command) error {
	var errs bytes.Buffer
	c.Stderr = &excerpt.CutWriter{To: &errs, Left: maxBoxMessage}
	exit, err := b.Exec(ctx, c)
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return &CommandError{name: c.Argv[0], code: exit.Code, stderr: excerpt.Clip(strings.TrimSpace(errs.String()), 500)}
	}
	return nil
}
