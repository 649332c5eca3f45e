// Package box opens the boxes of a run over throwaway trees, counts what they do, and removes both.
package box

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// RoleAgent is the role of the working box, whoever works in it.
const RoleAgent = "agent"

// RoleExtract begins the roles of boxes that read a tree and cannot change it.
const RoleExtract = "extract"

// Config is what the boxes of a run are made from.
type Config struct {
	Engine       sandbox.Engine
	Info         sandbox.Info // of the engine, as it was before the run
	GuestBinary  string       // host path of the program that becomes their main process
	CABundle     string       // host path of the authorities they trust, "" for those of their image
	AllowPrivate bool         // setup commands may reach private addresses
	Plan         plan.Boxes
	Owner        string        // names the run to the engine
	ReadOnly     bool          // the working box cannot change its tree
	Budget       egress.Budget // of their model requests; nil for none
	Token        string        // stands for the provider's key in boxes
	Log          *record.Log
	Journal      step.Journal // of what the engine is asked for
	// Unremoved is called with a *document.CleanupError for a box that was made in
	// vain and may still be there; may be nil.
	Unremoved func(role string, err error)
}

// Boxes opens the boxes of a run and counts what they do. Several may be open at a time.
type Boxes struct {
	Config
	Working *Box               // nil before it is opened, and after it is closed
	Made    sandbox.BoxDetails // of the working box
	Usage   Usage
	printed atomic.Int64 // bytes of output of all boxes so far
	lost    atomic.Bool  // the removal of a box could not be confirmed
}

// Box is a running sandbox and the gate that is its only way out.
type Box struct {
	sandbox.Sandbox
	Gate   *egress.Gate
	of     *Boxes
	stop   context.CancelFunc
	served chan struct{} // closed when the gate has ended
}

// Left says that a box of this run may still be there: the working one, or one
// whose removal could not be confirmed.
func (bs *Boxes) Left() bool { return bs.Working != nil || bs.lost.Load() }

// Where a box finds what the runner lends it, read-only.
const (
	GuestPath  = "/.sandboxrun/guest" // this program
	bundlePath = "/.sandboxrun/ca-certificates.crt"
)

// boxUID is the identity of box processes under a root runner. A runner that is
// not root cannot give files away, so its boxes run as its own user.
const boxUID = 10001

// User is the user of processes in boxes.
func User() sandbox.User {
	if uid := os.Getuid(); uid != 0 {
		return sandbox.User{UID: uid, GID: os.Getgid()}
	}
	return sandbox.User{UID: boxUID, GID: boxUID}
}

// TreeUser is the user of the machine who must own the trees of an engine's boxes. A
// *sandbox.UnavailableError says that this runner can give no tree to its boxes.
func TreeUser(engine sandbox.Info) (sandbox.User, error) {
	user := User()
	owner, err := engine.OnMachine(user)
	if err == nil && owner != user && os.Getuid() != 0 {
		err = &sandbox.UnavailableError{
			Op: "give trees to boxes", Err: fmt.Errorf("the engine remaps users, and only root can give files to user %d", owner.UID),
			Hint: "run as root, or use an engine without userns-remap",
		}
	}
	return owner, err
}

// spec describes a box of this run. Tasks reach it only through the plan.
func (bs *Boxes) spec(role string, m workspace.Mount) sandbox.Spec {
	binds := []sandbox.Bind{{Source: bs.GuestBinary, Target: GuestPath}}
	for _, b := range m.Binds {
		binds = append(binds, sandbox.Bind{Source: b.Source, Target: b.Target})
	}
	bundle := bs.CABundle
	if bundle != "" {
		binds = append(binds, sandbox.Bind{Source: bundle, Target: bundlePath})
	}
	return sandbox.Spec{
		Owner: bs.Owner, Role: role, Image: bs.Plan.Image, Runtime: bs.Plan.Runtime, User: User(),
		Tree:  sandbox.Tree{Dir: m.Dir, Lower: m.Lower, Upper: m.Upper, Work: m.Work, RenameDirs: m.RenameDirs, ReadOnly: bs.ReadOnly && role == RoleAgent || strings.HasPrefix(role, RoleExtract)},
		Binds: binds,
		Guest: []string{GuestPath, "guest"}, GuestIsInit: true,
		Env:    boxEnv(bs.Plan.Env, bundle != ""),
		Limits: bs.limits(), Journal: bs.Journal,
	}
}

// limits are the limits of the next box: the boxes of a run share what it may
// print. A box that may print nothing cannot be created, as 0 means the default.
func (bs *Boxes) limits() sandbox.Limits {
	l := bs.Plan.Limits
	l.OutputBytes = max(1, l.OutputBytes-bs.printed.Load())
	return l
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
