package box

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/document"
	"sandboxrun/runner/record"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// madeBox is a box that only says what it is.
type madeBox struct {
	sandbox.Sandbox
	runtime string
}

func (b madeBox) Details() sandbox.BoxDetails { return sandbox.BoxDetails{Runtime: b.runtime} }

func TestABoxMadeBelowTheRequiredTierIsRefused(t *testing.T) {
	t.Parallel()
	bs := &Boxes{Config: Config{Info: sandbox.Info{DefaultRun: "runsc", Runtimes: []string{"runc", "runsc"}}}}
	if err := bs.keepsTier(madeBox{}); err != nil {
		t.Errorf("no demand: %v", err)
	}
	bs.Plan.RequireTier = sandbox.TierRunsc
	if err := bs.keepsTier(madeBox{runtime: "runsc"}); err != nil {
		t.Errorf("as demanded: %v", err)
	}
	for name, made := range map[string]sandbox.Sandbox{
		"another runtime": madeBox{runtime: "runc"}, "no word on the runtime": madeBox{}, "no details": struct{ sandbox.Sandbox }{},
	} {
		var policy *sandbox.PolicyError
		if err := bs.keepsTier(made); !errors.As(err, &policy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheBoxesOfARunShareWhatTheyMayPrint(t *testing.T) {
	t.Parallel()
	bs := &Boxes{}
	bs.Plan.Limits.OutputBytes = 100
	first, second := &Box{Sandbox: talkative{}, of: bs}, &Box{Sandbox: talkative{}, of: bs}
	if _, err := first.Exec(t.Context(), sandbox.Command{Argv: []string{"90"}}); err != nil {
		t.Error(err)
	}
	if got := bs.limits().OutputBytes; got != 10 {
		t.Errorf("the next box may print %d bytes, want 10", got)
	}
	var out bytes.Buffer
	var limit *sandbox.LimitError
	if _, err := second.Exec(t.Context(), sandbox.Command{Argv: []string{"11"}, Stdout: &out}); !errors.As(err, &limit) || limit.Limit != sandbox.LimitOutput {
		t.Errorf("a box that was open before: %v", err)
	}
	if out.Len() != 10 {
		t.Errorf("%d bytes of it were kept, want 10", out.Len())
	}
}

// talkative prints as many bytes as it is told, and ends as an engine does when they cannot be written.
type talkative struct{ sandbox.Sandbox }

func (talkative) Exec(_ context.Context, c sandbox.Command) (sandbox.Exit, error) {
	n, err := strconv.Atoi(c.Argv[0])
	if err == nil {
		_, err = c.Stdout.Write(make([]byte, n))
	}
	return sandbox.Exit{}, err
}

// stuckBox cannot be removed.
type stuckBox struct{ sandbox.Sandbox }

func (stuckBox) Close(context.Context) error { return errors.New("engine gone") }

func TestABoxWhoseRemovalFailedMayStillBeThere(t *testing.T) {
	t.Parallel()
	bs := &Boxes{}
	b := &Box{Sandbox: stuckBox{}, of: bs, stop: func() {}, served: make(chan struct{})}
	close(b.served)
	if bs.Left() {
		t.Error("no box was made, and one is left")
	}
	var cleanup *document.CleanupError
	if err := b.Discard(t.Context()); !errors.As(err, &cleanup) || cleanup.What != document.LeftBox {
		t.Errorf("discard: %v", err)
	}
	if !bs.Left() {
		t.Error("the tree of the box would be read while the box may write to it")
	}
}

// lostEngine makes a box, loses it, and cannot remove it.
type lostEngine struct{ sandbox.Engine }

func (lostEngine) Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, errors.Join(errors.New("start"), &sandbox.LeftError{Err: errors.New("engine gone")})
}

func TestABoxThatWasMadeInVainAndMayStillBeThereIsReported(t *testing.T) {
	t.Parallel()
	var reported error
	bs := &Boxes{Config: Config{Engine: lostEngine{}, Unremoved: func(_ string, err error) { reported = err }}}
	_, err := bs.Open(t.Context(), "agent", workspace.Mount{}, nil)
	var cleanup *document.CleanupError
	if err == nil || !bs.Left() || !errors.As(reported, &cleanup) {
		t.Errorf("open: %v, reported: %v, left: %t", err, reported, bs.Left())
	}
}

func TestRefusedNamesAreListedWithTheirPrivateAddresses(t *testing.T) {
	t.Parallel()
	st, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := st.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	j, err := dir.Journal()
	if err != nil {
		t.Fatal(err)
	}
	bs := &Boxes{Config: Config{Log: record.NewLog(j, nil)}}
	for _, name := range []string{"b.example:443", "a.example:443", "b.example:443", ""} {
		bs.record("verify.setup", egress.Record{Kind: egress.KindConnect, Name: name, Count: 1, RequestBytes: 2, ResponseBytes: 3})
	}
	bs.record("agent", egress.Record{Kind: egress.KindConnect, Name: "b.example:443", Count: 1, Reason: "refused"})
	list, more := bs.Usage.Connections()
	want := []document.Connection{{Name: "b.example:443", Phase: "prepare", Count: 1, Failed: 1}, {Name: "a.example:443", Phase: "verify", Count: 1, RequestBytes: 2, ResponseBytes: 3},
		{Name: "b.example:443", Phase: "verify", Count: 2, RequestBytes: 4, ResponseBytes: 6}}
	if d := cmp.Diff(want, list); d != "" || more != 1 {
		t.Errorf("%d more connections than\n%s", more, d)
	}
	if names := bs.Usage.Names(); len(names) != 0 {
		t.Errorf("nothing was refused, and these are listed: %q", names)
	}
	for _, r := range []egress.Record{
		{Kind: egress.KindDenied, Name: "example.com:443", Reason: "not on the allow-list of this box"},
		{Kind: egress.KindDenied, Name: "db.test:5432", Reason: "db.test resolves to a private, local or reserved address", Address: "10.0.0.5"},
	} {
		bs.record("agent", r)
	}
	if d := cmp.Diff([]string{"db.test:5432", "example.com:443"}, bs.Usage.Names()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"db.test:5432 stands for the private address 10.0.0.5"}, bs.Usage.Private()); d != "" {
		t.Error(d)
	}
	if err := errors.Join(bs.Log.Close(), dir.Unlock()); err != nil {
		t.Error(err)
	}
}
