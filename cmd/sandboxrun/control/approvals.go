package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/approval"
	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/service"
)

// Approvals is the command "approvals".
func (m Commands) Approvals() *cli.Command {
	return &cli.Command{
		Name:  "approvals",
		Usage: "list and answer what agents ask for: list, answer",
		Description: `A task with the approval policy "ask" waits for a person before its agent may call
a tool. Whoever answers first, at the terminal of the run or here, decides; what
nobody answers in time is denied.`,
		Subcommands: []*cli.Command{m.approvalsList(), m.approvalsAnswer()},
	}
}

func (m Commands) approvalsList() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list the requests that wait, or all of a run",
		ArgsUsage: "[RUN]",
		Description: `Lists what waits for an answer, in all runs, the nearest deadline first. With RUN it
lists every request of that run, answered ones included.

Examples:
   sandboxrun approvals list
   sandboxrun approvals list --json RUN`,
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			run := ""
			if c.NArg() > 1 {
				return &document.InputError{Message: "at most one argument: RUN", Hint: `see "sandboxrun approvals list --help"`}
			}
			if c.NArg() == 1 {
				var err error
				if run, err = m.FindRun(c.Args().First()); err != nil {
					return err
				}
			}
			return m.do(c, func(ctx context.Context, s *service.Service) error {
				list, err := s.Approvals(ctx, run)
				if err != nil {
					return err
				}
				if c.Bool(jsonFlag.Name) {
					return m.PrintJSON(list)
				}
				return m.showApprovals(list)
			})
		},
	}
}

// showApprovals prints requests with everything a decision is about.
func (m Commands) showApprovals(list []service.Approval) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(m.Out, "nothing waits for an answer")
		return err
	}
	for _, a := range list {
		state := string(a.State)
		if a.State == service.ApprovalPending {
			state += ", " + until(a.Deadline) + " left"
		}
		var text strings.Builder
		fmt.Fprintf(&text, "%s %s  %s (%s)  %s\n  digest %s\n", a.RunID, a.ID, render.Printable(a.Tool), a.Action, state, render.Printable(a.Digest))
		text.WriteString(render.Indented(string(a.Input), approval.MaxShown))
		for _, q := range a.Questions {
			fmt.Fprintf(&text, "  question %s: %s\n", render.Printable(q.ID), render.Printable(q.Text))
			for _, o := range q.Options {
				fmt.Fprintf(&text, "    - %s  %s\n", render.Printable(o.Label), render.Printable(o.Description))
			}
		}
		if !a.Complete {
			fmt.Fprintf(&text, "  %d bytes are more than can be shown: it can only be denied\n", a.InputBytes)
		}
		if _, err := fmt.Fprint(m.Out, text.String()); err != nil {
			return err
		}
	}
	return nil
}

func (m Commands) approvalsAnswer() *cli.Command {
	return &cli.Command{
		Name:      "answer",
		Usage:     "allow or deny a request",
		ArgsUsage: "RUN ID",
		Description: `Answers the request ID of a run. --digest is that of the request as "approvals list"
showed it, so that the answer is about what was read; a beginning of at least 8
characters is enough. The first answer counts.

Examples:
   sandboxrun approvals answer --allow --digest 3f9a0c17 RUN a1
   sandboxrun approvals answer --deny --reason "not that file" --digest 3f9a0c17 RUN a2
   sandboxrun approvals answer --allow --answer colour=blue --digest 3f9a0c17 RUN a3`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "allow", Usage: "allow it"},
			&cli.BoolFlag{Name: "deny", Usage: "deny it"},
			&cli.StringFlag{Name: "digest", Usage: "`DIGEST` of the request as it was shown"},
			&cli.StringFlag{Name: "reason", Usage: "`TEXT` that the agent is told when it is denied"},
			&cli.StringSliceFlag{Name: "answer", Usage: "answer to a question, as `QUESTION=TEXT` (repeatable)"},
			&cli.BoolFlag{Name: "remember", Usage: "answer exactly this request the same way for the rest of the run"},
			&cli.StringFlag{Name: "scope", Usage: "with --allow, for the rest of the run: `exact` (this request), tool (its tool), prefix (commands that begin like it)"},
		},
		Action: m.answer,
	}
}

// minDigest is how much of a digest names a request, in characters.
const minDigest = 8

func (m Commands) answer(c *cli.Context) error {
	var bad document.Problems
	if c.NArg() != 2 {
		bad.Add("", "two arguments are needed: RUN ID")
	}
	if c.Bool("allow") == c.Bool("deny") {
		bad.Add("", "one of --allow and --deny is needed")
	}
	digest := c.String("digest")
	if len(digest) < minDigest {
		bad.Add("", "--digest needs at least %d characters", minDigest)
	}
	scope := approval.Scope(c.String("scope"))
	switch scope {
	case approval.ScopeOnce, approval.ScopeExact:
	case approval.ScopeTool, approval.ScopePrefix:
		if !c.Bool("allow") {
			bad.Add("", "--scope %s belongs to --allow", scope)
		}
	default:
		bad.Add("", "--scope must be exact, tool or prefix")
	}
	answers := map[string][]string{}
	for _, pair := range c.StringSlice("answer") {
		id, text, ok := strings.Cut(pair, "=")
		if !ok {
			bad.Add("", "--answer must be QUESTION=TEXT")
			continue
		}
		answers[id] = append(answers[id], text)
	}
	if err := bad.Err("the answer is not valid", `see "sandboxrun approvals answer --help"`); err != nil {
		return err
	}
	run, err := m.FindRun(c.Args().Get(0))
	if err != nil {
		return err
	}
	a := mailbox.Answer{Digest: digest, Decision: mailbox.Deny, Reason: c.String("reason"), Answers: answers, Remember: c.Bool("remember"), Scope: string(scope), By: by}
	if c.Bool("allow") {
		a.Decision = mailbox.Allow
	}
	return m.do(c, func(ctx context.Context, s *service.Service) error {
		asked, err := s.Approval(ctx, run, c.Args().Get(1))
		if err != nil {
			return err
		}
		if strings.HasPrefix(asked.Digest, digest) {
			a.Digest = asked.Digest
		}
		given, err := s.Answer(ctx, run, c.Args().Get(1), a)
		if err != nil {
			return err
		}
		if c.Bool(jsonFlag.Name) {
			return m.PrintJSON(given)
		}
		_, err = fmt.Fprintf(m.Out, "%s %s: %s\n", given.RunID, given.ID, a.Decision)
		return err
	})
}
