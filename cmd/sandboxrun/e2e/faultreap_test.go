package e2e

import (
	"testing"

	"sandboxrun/sandbox/sandboxtest"
)

func TestReapReportsWhatItCouldNotRemove(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	f := &faultRun{rig: rig, repo: repo, proxy: behind(t, rig)}
	l := startLive(t, rig, repo)
	if err := l.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = l.cmd.Wait() // it was killed
	rig.hasten()
	lists := []sandboxtest.Fault{sandboxtest.Refused, sandboxtest.Failing, sandboxtest.Missing, sandboxtest.Garbage, sandboxtest.Empty}
	for _, try := range []struct {
		route  string
		faults []sandboxtest.Fault
	}{
		{"GET /containers/json", lists},
		{"GET /volumes", lists[:4]}, // an engine without volumes answers with an empty document too
		{"DELETE /containers/{id}", []sandboxtest.Fault{sandboxtest.Missing}},
		{"DELETE /volumes/{name}", []sandboxtest.Fault{sandboxtest.Missing}},
	} {
		route := try.route
		for _, fault := range try.faults {
			f.proxy.Heal()
			f.proxy.Inject(fault, sandboxtest.OnRoute(route))
			c := rig.command("reap")
			out, err := c.CombinedOutput()
			left := f.leftOnEngine(t, l.run)
			t.Logf("%-24s %-8s %v, left %d", route, fault, err, len(left))
			if err == nil && len(left) > 0 {
				t.Errorf("%s %s: reap reports no error, and the engine has %v: %s", route, fault, left, out)
			}
		}
	}
	f.proxy.Heal()
	if o := rig.run(nil, "reap"); o.exit != 0 {
		t.Errorf("reap: exit %d: %s", o.exit, o.stderr)
	}
	if left := f.leftOnEngine(t, l.run); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
