package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/server"
	"sandboxrun/deploy"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/endpoint"
	"sandboxrun/runner/httpapi"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/service"
	"sandboxrun/runner/websession"
)

func (p *program) serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "answer over HTTP on this machine",
		Description: `Serves runs, sessions, agents and streams of events on a loopback address, until
SIGINT or SIGTERM. Active runs are not part of it: they go on when it stops, dies or
is replaced. Callers need the token in the file "token" of the state directory;
callers of the same user on the unix socket do not. Any other than a loopback
address needs TLS. One server uses a state directory.

The log goes to standard error, one JSON object a line. --print shows a file for a
supervisor. Both say when the server is ready.

Exit codes: 0 stopped by a signal, 1 internal error, 2 invalid input or usage.

Examples:
   sandboxrun serve
   sandboxrun serve --addr 127.0.0.1:8080
   sandboxrun serve --new-token
   sandboxrun serve --print pm2
   sandboxrun serve --print systemd`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Usage: "listen at `ADDRESS:PORT`, by default " + config.DefaultAddr},
			&cli.StringFlag{Name: "socket", Usage: "listen on a unix socket at `PATH` as well"},
			&cli.StringFlag{Name: "tls-cert", Usage: "PEM `FILE` of the certificate"},
			&cli.StringFlag{Name: "tls-key", Usage: "PEM `FILE` of its key"},
			&cli.BoolFlag{Name: "new-token", Usage: "replace the token, and sign every page out"},
			&cli.StringFlag{Name: "print", Usage: "print the file of a supervisor (`pm2` or systemd) and exit"},
		},
		Action: p.serve,
	}
}

func (p *program) serve(c *cli.Context) error {
	if c.Args().Present() {
		return &document.InputError{Message: fmt.Sprintf("takes no argument, got %q", c.Args().First()), Hint: `see "sandboxrun serve --help"`}
	}
	if c.IsSet("print") {
		return p.printSupervisor(c.String("print"))
	}
	supervisor := server.Supervised() // first: nothing started later shall inherit its descriptor
	cfg, err := p.config()
	if err != nil {
		return err
	}
	if c.IsSet("addr") {
		cfg.Serve.Addr = c.String("addr")
	}
	if c.IsSet("socket") {
		cfg.Serve.Socket = c.String("socket")
	}
	st, err := p.state()
	if err != nil {
		return err
	}
	runs, done, err := (*controlled)(p).Service()
	if err != nil {
		return err
	}
	defer done()
	release, err := endpoint.Lock(st.Dir())
	if err != nil {
		return err
	}
	token, err := endpoint.MakeToken(st.Dir(), c.Bool("new-token"))
	if err != nil {
		return errors.Join(err, release())
	}
	if c.Bool("new-token") {
		err = websession.Clear(st.Dir()) // whoever replaces the token wants everybody out
	}
	pages, perr := websession.Open(st.Dir())
	if err := errors.Join(err, perr); err != nil {
		return errors.Join(err, release())
	}
	listeners, err := server.Listen(c.Context, server.Where{Addr: cfg.Serve.Addr, Socket: cfg.Serve.Socket, TLSCert: c.String("tls-cert"), TLSKey: c.String("tls-key")})
	if err != nil {
		return errors.Join(err, release())
	}
	version := buildVersion().Version
	log := slog.New(slog.NewJSONHandler(p.stderr, nil))
	s := httpapi.New(httpapi.Options{
		State: st, Service: runs, Config: cfg, Machine: &server.Machine{Config: cfg, State: st, Examine: p.examine}, Log: log, Version: version, Token: token, Pages: pages, Getenv: p.getenv, TLS: listeners.TLS != nil,
	})
	place := endpoint.Endpoint{URL: server.URL(listeners), Socket: cfg.Serve.Socket, PID: os.Getpid(), Build: version, StartedAt: time.Now().UTC()}
	if err := endpoint.Announce(st.Dir(), place); err != nil {
		return errors.Join(err, server.Close(listeners), release())
	}
	err = p.serveUntilSignal(c.Context, s, runs, listeners, supervisor, log, place)
	if cfg.Serve.OnStop == config.OnStopCancel {
		err = errors.Join(err, runs.CancelAll(c.Context, mailbox.Cancel{By: "server", Reason: "the server was stopped"}))
	}
	return errors.Join(err, endpoint.Withdraw(st.Dir()), release(), supervisor.Close())
}

func (p *program) serveUntilSignal(
	ctx context.Context, s *httpapi.Server, runs *service.Service, l httpapi.Listeners, supervisor *server.Supervisor, log *slog.Logger, place endpoint.Endpoint,
) error {
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	var helpers sync.WaitGroup
	// Listening sockets queue connections from their opening on, so that a caller may come at once.
	if err := supervisor.Ready(); err != nil {
		log.Warn("the supervisor was not told that the server is ready", "cause", err.Error())
	}
	log.Info("ready", "url", place.URL, "socket", place.Socket, "pid", place.PID, "version", place.Build)
	helpers.Go(func() {
		runs.Schedule(ctx, func(err error) { log.Warn("a task could not be started or settled", "cause", err.Error()) })
	})
	helpers.Go(func() { supervisor.Watch(ctx, func() bool { return s.Alive(ctx) }) })
	helpers.Go(func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
		if err := supervisor.Stopping(); err != nil {
			log.Warn("the supervisor was not told that the server stops", "cause", err.Error())
		}
	})
	err := s.Serve(ctx, l)
	stop()
	helpers.Wait()
	log.Info("stopped")
	return err
}

func (p *program) printSupervisor(name string) error {
	text, ok := map[string]string{"pm2": deploy.PM2, "systemd": deploy.Systemd}[name]
	if !ok {
		return &document.InputError{Message: fmt.Sprintf("--print %q is not known", name), Hint: "use pm2 or systemd"}
	}
	_, err := fmt.Fprint(p.stdout, text)
	return err
}
