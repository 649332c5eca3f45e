package callers

import (
	"log/slog"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/client"
	"sandboxrun/runner/document"
	"sandboxrun/runner/mcp"
	"sandboxrun/sandbox/egress"
)

// MCP is "mcp".
func (m Commands) MCP() *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "answer a client of the Model Context Protocol on standard input and output",
		Description: `Offers the tools execute_task, wait_run, get_run, get_diff, follow_up, cancel_run and
list_agents. Runs are not part of it: they go on when the client ends or cancels a
call. Calls answer within 50 seconds with a run to wait for, or, for clients that
take progress, tell it every few seconds until the result is there.

No tool approves what an agent asks for, and no task of a client gets more than the
configuration gives: hosts, memory, processors, processes, disk, runtime. The flags
below say more; serve.repo_roots of the configuration says which repositories.

With --server the server at a URL, or with auto that of this state directory, runs
the tasks. Without it a server that runs is used anyway, and none is needed.

Exit codes: 0 the client ended, 1 internal error, 2 invalid input or usage, 130 and
143 interrupted.

Examples:
   sandboxrun mcp
   sandboxrun mcp --max-runtime 7200 --allow-host packages.example.org
   sandboxrun mcp --server auto`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "server", Usage: "use the server at `URL`, or auto"},
			&cli.StringSliceFlag{Name: "allow-host", Usage: "`HOST` that tasks may open for setup commands; may be repeated"},
			&cli.IntFlag{Name: "max-runtime", Value: mcp.DefaultSeconds, Usage: "the most `SECONDS` that a task may take"},
		},
		Action: m.mcp,
	}
}

func (m Commands) mcp(c *cli.Context) error {
	if c.Args().Present() || c.Int("max-runtime") < 1 {
		return &document.InputError{Message: "takes no argument, and a positive --max-runtime", Hint: `see "sandboxrun mcp --help"`}
	}
	for _, host := range c.StringSlice("allow-host") {
		if _, err := egress.ParseAllow(host); err != nil {
			return &document.InputError{Message: "--allow-host " + err.Error()}
		}
	}
	cfg, err := m.Config()
	if err != nil {
		return err
	}
	runs, done, err := m.runs(c.String("server"))
	if err != nil {
		return err
	}
	defer done()
	ctx, stop := m.Interruptible(c.Context)
	defer stop()
	return mcp.New(mcp.Options{Runs: runs, Config: cfg, Hosts: c.StringSlice("allow-host"), Seconds: c.Int("max-runtime"), Version: m.Version(),
		Log: slog.New(slog.NewTextHandler(m.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))}).Serve(ctx, m.In, m.Out)
}

// runs are those of the state directory, or of a server.
func (m Commands) runs(server string) (mcp.Runs, func(), error) {
	st, err := m.State()
	if err != nil {
		return nil, nil, err
	}
	if server != "" {
		to, err := client.New(st.Dir(), server)
		if err != nil {
			return nil, nil, err
		}
		return mcp.Remote{Client: to}, to.Close, nil
	}
	cfg, err := m.Config()
	if err != nil {
		return nil, nil, err
	}
	s, done, err := m.Service()
	if err != nil {
		return nil, nil, err
	}
	return mcp.Local{Service: s, State: st, Config: cfg, Getenv: m.Getenv}, done, nil
}
