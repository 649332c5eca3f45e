package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/begin"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/cmd/sandboxrun/usage"
	"sandboxrun/runner"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/service"
)

func (p *program) executeCommand() *cli.Command {
	return &cli.Command{
		Name:      "execute",
		Usage:     "run a task and print its result",
		ArgsUsage: "TASK.json|-",
		Description: `Reads one task ("-" for standard input), runs it, and prints one JSON document on
standard output: the result, also of a failed run, or an error document when
nothing was run. On a terminal a report takes its place, unless --json is given.
Progress goes to standard error. The result also stays in the state directory:
see "sandboxrun runs".

--events FILE writes the run's events while they happen, one JSON object a line.
With --events - they go to standard output, and the document is the last line.
--output FILE gets a copy of the document.

With --session the task begins a session, or continues one: in a new box, with
the agent's own conversation so far and the files of the last run. --retry
returns to the state before a run of it. A session has one run at a time.

With --require-tier, or box.require_tier in the configuration or the task, a run
whose boxes would be less isolated is refused before anything is made. The
strictest of the three counts; the result's box.tier is the actual tier.

With --detach the command prints the state of the run as soon as the task is stored,
and the run goes on without it: "sandboxrun runs wait" gives its result. The same task
under the same task_id is accepted once.

With --server the server at a URL, or with auto that of this state directory, runs
the task. A server that is not there is a bridge failure: nothing runs here instead.

The first SIGINT, SIGTERM or SIGHUP stops the run and still gives its result; the
second ends the program at once, with an error document.

Exit codes: 0 success, 1 internal error, 2 invalid input or usage, 3 partial,
4 failed, 5 engine missing or broken, 6 stopped by a limit, 129, 130
and 143 interrupted.

Examples:
   sandboxrun execute task.json
   sandboxrun execute --quiet --output result.json task.json
   sandboxrun execute --require-tier runc task.json
   sandboxrun execute --events - task.json
   sandboxrun execute --detach task.json
   sandboxrun execute --server auto task.json
   sandboxrun execute --session fix-login task.json
   sandboxrun execute - < task.json`,
		Flags: append(p.executeFlags(), repoFlag, serverFlag,
			&cli.BoolFlag{Name: "detach", Usage: "return once the task is accepted; it runs in a process of its own"}),
		Action: p.execute,
	}
}

// executeFlags are the flags of execute and run.
func (p *program) executeFlags() []cli.Flag {
	return append(p.overrideFlags(),
		&cli.StringFlag{Name: "output", Usage: "also write the document to `FILE`"},
		&cli.StringFlag{Name: "events", Usage: "write events to `FILE`, or to standard output (-)"},
		&cli.BoolFlag{Name: "quiet", Usage: "print no progress on standard error"},
		&cli.BoolFlag{Name: "json", Usage: "print the document also on a terminal, where a report takes its place"},
	)
}

func (p *program) execute(c *cli.Context) error {
	p.output, p.compact = c.String("output"), c.String("events") == "-"
	if c.IsSet(serverFlag.Name) {
		p.people = false
		return p.executeThrough(c)
	}
	if c.Bool("detach") {
		return p.detach(c)
	}
	plan, err := p.compile(c)
	if err != nil {
		return err
	}
	return p.executePlan(c, plan, nil)
}

// executePlan runs a plan and prints its result. task is kept with the run where it is not nil.
func (p *program) executePlan(c *cli.Context, plan *plan.Plan, task []byte) error {
	p.people = p.people && c.String("events") != "-"
	e := &execution{p: p, events: c.String("events"), quiet: c.Bool("quiet"), task: task,
		with: func() (*runner.Runner, func(), error) { return p.runner(true) }}
	res, cause, err := e.run(c.Context, plan)
	if err != nil {
		return usage.InFlags(c, err)
	}
	if err := p.document(res); err != nil {
		p.notef("%v; \"sandboxrun runs show %s\" has the result", err, res.RunID)
	}
	if p.people {
		if err := p.showOutcome(res, plan.RepoRoot); err != nil {
			p.notef("%v", err)
		}
	}
	return exitError(document.ExitCode(res, cause))
}

// showOutcome prints a result for a person, and what can be done with it.
func (p *program) showOutcome(res *document.Result, repo string) error {
	term := render.TerminalOf(p.stdout, p.getenv)
	if err := render.WriteReport(p.stdout, term, res); err != nil {
		return err
	}
	return render.WriteNext(p.stdout, term, res, repo)
}

// detach accepts a task for a process of its own.
func (p *program) detach(c *cli.Context) error {
	if c.IsSet("events") {
		return &document.InputError{Message: "--events cannot be used with --detach", Hint: `"sandboxrun runs logs --follow" shows the events of the run`}
	}
	task, dir, repo, err := p.taskOf(c)
	if err != nil {
		return err
	}
	cfg, err := p.config()
	if err != nil {
		return err
	}
	s, done, err := p.service(cfg, false)
	if err != nil {
		return err
	}
	defer done()
	ctx, stop := p.interruptible(c.Context, nil)
	defer stop()
	v, _, err := s.Submit(ctx, service.Submission{Task: task, Dir: dir, Repo: repo, Overrides: overrides(c), By: "command line"})
	if err != nil {
		return usage.InFlags(c, err)
	}
	return p.document(v)
}

// execution is one run and the sinks of its events.
type execution struct {
	p      *program
	events string // "", a file, or "-"
	quiet  bool
	task   []byte                                 // kept with the run, nil for none
	with   func() (*runner.Runner, func(), error) // makes the runner

	mu sync.Mutex
	id string // of the run, once it has one
}

// run runs a plan to its result; its progress is shown and its events are written meanwhile. cause is the signal that
// stopped the run, nil when none did.
func (e *execution) run(ctx context.Context, plan *plan.Plan) (res *document.Result, cause, err error) {
	r, done, err := e.with()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	ctx, stop := e.p.interruptible(ctx, e.abandon)
	defer stop()
	sinks, err := e.sinks(ctx)
	if err != nil {
		return nil, nil, err
	}
	res, err = r.Execute(ctx, plan, func(ev journal.Event) {
		e.remember(ev.Run)
		for _, s := range sinks {
			s.Event(ev)
		}
	})
	for _, s := range sinks {
		s.Close()
	}
	return res, context.Cause(ctx), err
}

// sink takes the events of a run while it happens; neither method may fail.
type sink interface {
	Event(e journal.Event)
	Close()
}

func (e *execution) sinks(ctx context.Context) ([]sink, error) {
	var list []sink
	if e.events != "" {
		f, err := e.p.followInto(ctx, e.events)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	if !e.quiet {
		list = append(list, render.ShowProgress(e.p.stderr, render.TerminalOf(e.p.stderr, e.p.getenv), &e.p.screen))
	}
	return list, nil
}

func (e *execution) remember(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.id == "" && e.task != nil {
		if err := e.p.keepTask(id, e.task); err != nil {
			e.p.notef("the task is not kept: %v", err)
		}
	}
	e.id = id
}

func (e *execution) runID() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.id
}

// abandon removes the boxes of a run that the process no longer waits for, and writes a document that says so. The
// next reap settles the run itself.
func (e *execution) abandon(ctx context.Context, why error) {
	id := e.runID()
	if id != "" {
		why = fmt.Errorf("run %s was abandoned: %w", id, why)
	}
	if id != "" {
		if err := e.p.removeBoxesWithin(ctx, id, hardStopBound-2*time.Second); err != nil {
			e.p.notef("boxes of run %s may be left: %v; run \"sandboxrun reap\"", id, err)
		}
	}
	// Last, because events of the run may share its stream.
	if err := e.p.errorDocument(why); err != nil {
		e.p.notef("%v", err)
	}
}

// taskFile is the task that "run" made, in the directory of its run.
const taskFile = "task.json"

// beginCommands are the commands that need no task file.
func (p *program) beginCommands() []*cli.Command {
	return begin.Commands(begin.Host{
		Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, Getenv: p.getenv, Flags: p.executeFlags(), Printable: render.Printable,
		Check: func(c *cli.Context, task []byte) error {
			_, err := p.compileTask(c, task, "", "")
			return err
		},
		Execute: func(c *cli.Context, task []byte) error {
			p.output, p.compact = c.String("output"), c.String("events") == "-"
			plan, err := p.compileTask(c, task, "", "")
			if err != nil {
				return err
			}
			return p.executePlan(c, plan, task)
		},
	})
}

// keepTask writes the task into the directory of its run, without the keys of this host.
func (p *program) keepTask(id string, task []byte) error {
	st, err := p.state()
	if err != nil {
		return err
	}
	dir, err := st.Find(id)
	if err != nil {
		return err
	}
	path := dir.Path(taskFile)
	if err := renameio.WriteFile(path, p.secrets().JSON(task), 0o600); err != nil {
		return fmt.Errorf("keep the task: %w", err)
	}
	p.notef("the task is kept in %s", path)
	return nil
}
