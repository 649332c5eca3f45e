package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// Where a box finds what the runner lends it, read-only.
const (
	guestPath  = "/.sandboxrun/guest"
	bundlePath = "/.sandboxrun/ca-certificates.crt"
)

// roleAgent is the role of the working box, whoever works in it.
const roleAgent = "agent"

// readyBound is how long the guest may take until its listeners answer.
const readyBound = 30 * time.Second

// boxUID is the identity of box processes under a root runner. A runner that is
// not root cannot give files away, so its boxes run as its own user.
const boxUID = 10001

// BoxUser is who processes in boxes are.
func BoxUser() sandbox.User {
	if uid := os.Getuid(); uid != 0 {
		return sandbox.User{UID: uid, GID: os.Getgid()}
	}
	return sandbox.User{UID: boxUID, GID: boxUID}
}

// TreeUser is who on the machine must own the trees of an engine's boxes. A
// *sandbox.UnavailableError says that this runner can give no tree to its boxes.
func TreeUser(engine sandbox.Info) (sandbox.User, error) {
	user := BoxUser()
	owner, err := engine.OnMachine(user)
	if err == nil && owner != user && os.Getuid() != 0 {
		err = &sandbox.UnavailableError{
			Op: "give trees to boxes", Err: fmt.Errorf("the engine remaps users, and only root can give files to user %d", owner.UID),
			Hint: "run as root, or use an engine without userns-remap",
		}
	}
	return owner, err
}

// box is a running sandbox and the gate that is its only way out.
type box struct {
	sandbox.Sandbox
	gate   *egress.Gate
	stop   context.CancelFunc
	served chan struct{}      // closed when the gate has ended
	done   func(output int64) // told at the end how much was written in it
}

// openBox starts a box on a tree. routes is what its processes may reach for
// as long as it lives; nil for nothing.
func (x *run) openBox(ctx context.Context, role string, tree gitdiff.Mount, routes []egress.Route) (*box, error) {
	sb, err := x.r.o.Engine.Open(ctx, x.spec(role, tree))
	if left, ok := errors.AsType[*sandbox.LeftError](err); ok {
		x.fail(role, &cleanupError{what: leftBox, err: left.Err})
	}
	if err != nil {
		return nil, fmt.Errorf("open %s box: %w", role, err)
	}
	gctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	gate, err := egress.NewGate(egress.Config{
		Routes: routes, Token: x.token, Record: x.record, AllowPrivate: x.r.o.Config.Box.Network.AllowPrivate,
	})
	b := &box{Sandbox: sb, gate: gate, stop: stop, served: make(chan struct{}), done: func(output int64) { x.printed += output }}
	if err != nil {
		close(b.served)
		return nil, errors.Join(fmt.Errorf("open %s box: gate: %w", role, err), x.discard(ctx, b, nil))
	}
	if err := x.keepsTier(sb); err != nil {
		close(b.served)
		return nil, errors.Join(fmt.Errorf("open %s box: %w", role, err), x.discard(ctx, b, nil))
	}
	go func() {
		defer close(b.served)
		if err := b.gate.Serve(gctx, sb.Stdio()); err != nil && gctx.Err() == nil {
			x.log.emit("", EventSystemMessage, map[string]any{"text": "the tunnel of the " + role + " box ended: " + err.Error()})
		}
	}()
	rctx, cancel := context.WithTimeoutCause(ctx, readyBound, errors.New("the guest did not become ready"))
	defer cancel()
	err = step.Do(ctx, stepTunnel, role, func() error { return b.gate.Ready(rctx) })
	if err != nil {
		err = endOf(ctx, sb, &sandbox.EngineError{Op: "tunnel", Err: err})
		return nil, errors.Join(fmt.Errorf("open %s box: %w", role, err), x.discard(ctx, b, nil))
	}
	return b, nil
}

// endOf is why a box ended; one that has not ended, ends because of err.
func endOf(ctx context.Context, sb sandbox.Sandbox, err error) error {
	over, end := context.WithCancelCause(ctx)
	end(err)
	_, why := sb.Exec(over, sandbox.Command{Argv: []string{guestPath}})
	return cmp.Or(why, err)
}

// close removes the box and ends its gate, and waits for both.
func (b *box) close(ctx context.Context) error {
	err := b.Sandbox.Close(ctx)
	b.stop()
	<-b.served
	if d, ok := b.Sandbox.(sandbox.Details); ok && err == nil {
		b.done(d.Details().OutputBytes)
	}
	if err != nil {
		return &cleanupError{what: leftBox, err: err}
	}
	return nil
}

// spec describes a box of this run. Tasks reach it only through the plan.
func (x *run) spec(role string, m gitdiff.Mount) sandbox.Spec {
	binds := []sandbox.Bind{{Source: x.r.o.GuestBinary, Target: guestPath}}
	for _, b := range m.Binds {
		binds = append(binds, sandbox.Bind{Source: b.Source, Target: b.Target})
	}
	bundle := x.r.o.CABundle
	if bundle != "" {
		binds = append(binds, sandbox.Bind{Source: bundle, Target: bundlePath})
	}
	return sandbox.Spec{
		Owner: x.owner(), Role: role, Image: x.plan.Box.Image, Runtime: x.plan.Box.Runtime, User: BoxUser(),
		Tree:  sandbox.Tree{Dir: m.Dir, Lower: m.Lower, Upper: m.Upper, Work: m.Work, ReadOnly: x.readOnlyTree(role)},
		Binds: binds,
		Guest: []string{guestPath, "guest"}, GuestIsInit: true,
		Env:    boxEnv(x.plan.Box.Env, bundle != ""),
		Limits: x.boxLimits(),
	}
}

// readOnlyTree says that the working box of a read-only run cannot change its
// tree. Setup commands may have to: then the captured tree alone is judged.
func (x *run) readOnlyTree(role string) bool {
	return role == roleAgent && x.plan.Agent != nil && x.plan.Agent.ReadOnly && len(x.plan.Setup) == 0
}

// owner names this run to the engine. It carries the identity of the state
// directory so that no runner takes another state's live boxes for dead.
func (x *run) owner() string { return x.r.o.State.Owner(x.id) }

// boxEnv is the environment of every process of a box: defaults, over them the
// task's own variables, over those what a task may not choose.
func boxEnv(asked map[string]string, bundle bool) []string {
	env := map[string]string{"LANG": "C.UTF-8", "TERM": "dumb", "CI": "true"}
	if bundle {
		for _, name := range bundleNames {
			env[name] = bundlePath
		}
	}
	maps.Copy(env, asked)
	env["HOME"], env["TMPDIR"], env["SANDBOXRUN"] = sandbox.Home, sandbox.TempDir, "1"
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return append(out, egress.Env()...)
}

// bundleNames point the usual programs at the host's certificate authorities:
// networks that re-sign TLS are common, and a box's own bundle does not know
// their authority.
var bundleNames = []string{
	"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT",
}

// preferredLayout is the overlay where the engine is likely to mount it: on
// this very machine, under Linux, and at a path that mount options can hold.
// What it really can is seen when it is asked.
func preferredLayout(asked gitdiff.Layout, i sandbox.Info, state string) gitdiff.Layout {
	if asked != "" {
		return asked
	}
	if runtime.GOOS == "linux" && i.OS == "linux" && !strings.ContainsAny(state, `,:"\`+"\n") {
		return gitdiff.LayoutOverlay
	}
	return gitdiff.LayoutCopy
}
