package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

var stepTunnel = step.Define("tunnel/open")

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

// BoxUser is the user of processes in boxes.
func BoxUser() sandbox.User {
	if uid := os.Getuid(); uid != 0 {
		return sandbox.User{UID: uid, GID: os.Getgid()}
	}
	return sandbox.User{UID: boxUID, GID: boxUID}
}

// TreeUser is the user of the machine who must own the trees of an engine's boxes. A
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

// Config is what the boxes of a run are made from.
type Config struct {
	Engine       sandbox.Engine
	Info         sandbox.Info // of the engine, as it was before the run
	GuestBinary  string       // host path of the program that becomes their main process
	CABundle     string       // host path of the authorities they trust, "" for those of their image
	AllowPrivate bool         // setup commands may reach private addresses
	Plan         plan.Boxes
	Owner        string // names the run to the engine
	ReadOnly     bool   // the working box cannot change its tree
	Token        string // stands for the provider's key in boxes
	Log          *record.Log
	Journal      step.Journal // of what the engine is asked for
	// Unremoved is called with a *document.CleanupError for a box that was made in
	// vain and may still be there; may be nil.
	Unremoved func(role string, err error)
}

// boxes opens the boxes of a run and counts what they do.
type boxes struct {
	Config
	Working *box               // nil before open, and after close
	Made    sandbox.BoxDetails // of the working box
	usage   usage
	printed int64 // bytes of output of the boxes that are closed
	lost    bool  // the removal of a box could not be confirmed
}

// box is a running sandbox and the gate that is its only way out.
type box struct {
	sandbox.Sandbox
	gate   *egress.Gate
	of     *boxes
	stop   context.CancelFunc
	served chan struct{} // closed when the gate has ended
}

// left says that a box of this run may still be there: the working one, or one
// whose removal could not be confirmed.
func (bs *boxes) left() bool { return bs.Working != nil || bs.lost }

// open starts a box on a tree. routes is what its processes may reach for as long
// as it lives; nil for nothing.
func (bs *boxes) open(ctx context.Context, role string, tree workspace.Mount, routes []egress.Route) (*box, error) {
	sb, err := bs.Engine.Open(ctx, bs.spec(role, tree))
	if left, ok := errors.AsType[*sandbox.LeftError](err); ok {
		bs.lost = true
		if bs.Unremoved != nil {
			bs.Unremoved(role, &document.CleanupError{What: document.LeftBox, Err: left.Err})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s box: %w", role, err)
	}
	gctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	gate, err := egress.NewGate(egress.Config{
		Routes: routes, Token: bs.Token, Record: bs.record, AllowPrivate: bs.AllowPrivate,
	})
	b := &box{Sandbox: sb, gate: gate, of: bs, stop: stop, served: make(chan struct{})}
	if err != nil {
		close(b.served)
		return nil, errors.Join(fmt.Errorf("open %s box: gate: %w", role, err), b.discard(ctx))
	}
	if err := bs.keepsTier(sb); err != nil {
		close(b.served)
		return nil, errors.Join(fmt.Errorf("open %s box: %w", role, err), b.discard(ctx))
	}
	go func() {
		defer close(b.served)
		if err := b.gate.Serve(gctx, sb.Stdio()); err != nil && gctx.Err() == nil {
			bs.Log.Remark("the tunnel of the %s box ended: %v", role, err)
		}
	}()
	rctx, cancel := context.WithTimeoutCause(ctx, readyBound, errors.New("the guest did not become ready"))
	defer cancel()
	step.Before(stepTunnel)
	err = b.gate.Ready(rctx)
	step.After(stepTunnel)
	if err != nil {
		err = endOf(ctx, sb, &sandbox.EngineError{Op: "tunnel", Err: err})
		return nil, errors.Join(fmt.Errorf("open %s box: %w", role, err), b.discard(ctx))
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
		b.of.printed += d.Details().OutputBytes
	}
	if err != nil {
		b.of.lost = true
		return &document.CleanupError{What: document.LeftBox, Err: err}
	}
	return nil
}

// discard is close under a bound of its own, also after ctx has ended.
func (b *box) discard(ctx context.Context) error {
	cctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), plan.CloseBound,
		fmt.Errorf("removal of a box took longer than %s", plan.CloseBound))
	defer cancel()
	return b.close(cctx)
}

// spec describes a box of this run. Tasks reach it only through the plan.
func (bs *boxes) spec(role string, m workspace.Mount) sandbox.Spec {
	binds := []sandbox.Bind{{Source: bs.GuestBinary, Target: guestPath}}
	for _, b := range m.Binds {
		binds = append(binds, sandbox.Bind{Source: b.Source, Target: b.Target})
	}
	bundle := bs.CABundle
	if bundle != "" {
		binds = append(binds, sandbox.Bind{Source: bundle, Target: bundlePath})
	}
	return sandbox.Spec{
		Owner: bs.Owner, Role: role, Image: bs.Plan.Image, Runtime: bs.Plan.Runtime, User: BoxUser(),
		Tree:  sandbox.Tree{Dir: m.Dir, Lower: m.Lower, Upper: m.Upper, Work: m.Work, ReadOnly: bs.ReadOnly && role == roleAgent},
		Binds: binds,
		Guest: []string{guestPath, "guest"}, GuestIsInit: true,
		Env:    boxEnv(bs.Plan.Env, bundle != ""),
		Limits: bs.limits(), Journal: bs.Journal,
	}
}

// limits are the limits of the next box: the boxes of a run share what it may
// print. A box that may print nothing cannot be created, as 0 means the default.
func (bs *boxes) limits() sandbox.Limits {
	l := bs.Plan.Limits
	l.OutputBytes = max(1, l.OutputBytes-bs.printed)
	return l
}

// keepsTier is checkTier for a box that was made: the engine may have been
// configured anew since preflight.
func (bs *boxes) keepsTier(made sandbox.Sandbox) error {
	if bs.Plan.RequireTier == "" {
		return nil
	}
	have, why := sandbox.TierRunc, "a box that does not say its runtime"
	if d, ok := made.(sandbox.Details); ok && d.Details().Runtime != "" {
		have, why = bs.Info.Tier(d.Details().Runtime)
	}
	if have.Below(bs.Plan.RequireTier) {
		return &sandbox.PolicyError{Promise: "tier " + string(bs.Plan.RequireTier), Got: fmt.Sprintf("tier %s (%s)", have, why)}
	}
	return nil
}

// tier is what the working box had, "" when none was made.
func (bs *boxes) tier() sandbox.Tier {
	if bs.Made.ID == "" {
		return ""
	}
	tier, _ := bs.Info.Tier(bs.Made.Runtime)
	return tier
}

// result is what the result says of the boxes; layout is how trees reached them,
// "" where none did.
func (bs *boxes) result(p *plan.Plan, layout workspace.Layout) *document.BoxResult {
	r := plannedBox(p)
	r.Engine, r.Runtime, r.Tier = strings.TrimSpace(bs.Info.Name+" "+bs.Info.Version), bs.Made.Runtime, string(bs.tier())
	r.ImageDigest, r.Layout, r.Network.Denied = cmp.Or(bs.Made.ImageDigest, bs.Made.ImageID), string(layout), bs.usage.names()
	return r
}

// plannedBox is what the plan says of a run's boxes.
func plannedBox(p *plan.Plan) *document.BoxResult {
	l := p.Box.Limits
	return &document.BoxResult{
		Image: p.Box.Image,
		Limits: document.BoxLimits{MemoryBytes: l.MemoryBytes, CPUs: l.CPUs, PIDs: l.PIDs, DiskBytes: l.DiskBytes,
			OutputBytes: l.OutputBytes, RuntimeSeconds: p.LimitSeconds},
		Network: document.BoxNetwork{Mode: "none", Provider: p.ProviderName(), Setup: append([]string{}, p.Box.SetupAllow...), Denied: []string{}},
	}
}

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
