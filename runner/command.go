package runner

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/sandbox"
)

// command runs one shell command in a box, keeps its whole output in the run's
// logs and records what the engine said about it. The error is a box that was
// lost, hit a limit, or a clock that ended; the record is made all the same.
func (x *run) command(ctx context.Context, b *box, phase, text string) (CommandRun, error) {
	out, err := x.dir.Spool(fmt.Sprintf("%03d-%s.stdout.log", len(x.commands)+1, phase))
	if err != nil {
		return CommandRun{}, err
	}
	errs, err := x.dir.Spool(fmt.Sprintf("%03d-%s.stderr.log", len(x.commands)+1, phase))
	if err != nil {
		return CommandRun{}, errors.Join(err, out.Close())
	}
	ctx, idle, unwatch := x.watchIdle(ctx)
	defer unwatch()
	exit, runErr := b.Exec(ctx, sandbox.Command{Argv: []string{"/bin/sh", "-c", text}, Stdout: idle.heard(out), Stderr: idle.heard(errs)})
	closeErr := errors.Join(out.Close(), errs.Close())
	c := CommandRun{
		Command: text, Source: "runner", Phase: phase, DurationMS: exit.Duration.Milliseconds(),
		StdoutExcerpt: out.Excerpt(), StderrExcerpt: errs.Excerpt(), Truncated: out.Truncated() || errs.Truncated(),
	}
	if runErr == nil {
		c.ExitCode = &exit.Code
	}
	var limit *sandbox.LimitError
	c.TimedOut = errors.As(runErr, &limit) && limit.Limit == sandbox.LimitTime
	x.commands = append(x.commands, c)
	x.logFiles = append(x.logFiles, out.Path(), errs.Path())
	x.log.emit(phase, EventCommandOutput, c)
	return c, errors.Join(runErr, closeErr)
}
