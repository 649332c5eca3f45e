package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox/sandboxtest"
)

// behindHost puts a fault proxy between a rig's program and an engine of the
// test's own.
func behindHost(t *testing.T, r *rig, d *daemon) *sandboxtest.FaultProxy {
	t.Helper()
	p := sandboxtest.NewFaultProxy(t, strings.TrimPrefix(d.host(), "unix://"))
	r.env = append(r.env, "DOCKER_HOST="+p.Host())
	return p
}

func TestEngineRestartedDuringARun(t *testing.T) { //nolint:tparallel // one engine, restarted by each in turn
	t.Parallel()
	d := newDaemon(t, "")
	t.Cleanup(func() { d.t = t })
	for _, c := range []struct {
		name  string
		do    func()
		codes []string
	}{
		{"stopped", d.stop, []string{"engine_lost", document.CodeBoxEnded}},
		{"killed", d.kill, []string{"engine_lost"}},
		{"stopped and started", func() { d.stop(); d.again() }, []string{"engine_lost", document.CodeBoxEnded}},
		// An engine that comes back fast may answer a call about the box with an error of its own, while it still restores it.
		{"killed and started", func() { d.kill(); d.again() }, []string{"engine_lost", document.CodeBoxEnded, document.CodeEngineFailed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			rig, repo := daemonRig(t, d), newRepo(t, sample)
			rig.hasten()
			l := startLive(t, rig, repo)
			began := time.Now()
			c.do()
			_ = l.cmd.Wait() // the exit code is what counts
			res := storedResult(t, rig.state, l.run)
			t.Logf("%s after %s: %v, cleanup %+v", res.Status, time.Since(began).Round(time.Second), codes(res), res.Box.Cleanup)
			known := false
			for _, code := range c.codes {
				known = known || hasCode(res, code)
			}
			if exit := l.cmd.ProcessState.ExitCode(); exit != 4 || res.Status != document.StatusFailed || !known || res.Git.Branch != "" {
				t.Errorf("exit %d, %s %v", exit, res.Status, codes(res))
			}
			if res.Box.Cleanup.Complete == hasCode(res, "cleanup_failed") {
				t.Errorf("cleanup %+v, %v", res.Box.Cleanup, codes(res))
			}
			if !d.answers() {
				d.again()
			}
			// The next run removes what the engine still has.
			if next, o := rig.execute(repo.task("echo x > x.txt")); o.exit != 0 || hasCode(next, "cleanup_failed") {
				t.Errorf("the next run: exit %d, %+v: %s", o.exit, next.Issues, o.stderr)
			}
			if left := d.docker("ps", "-aq") + d.docker("volume", "ls", "-q"); left != "" {
				t.Errorf("left on the engine: %s", left)
			}
		})
	}
}

func TestMissingImageIsReported(t *testing.T) { //nolint:tparallel // one engine, whose image each removes in turn
	t.Parallel()
	d := newDaemon(t, "")
	t.Run("before the box is made", func(t *testing.T) {
		rig, repo := daemonRig(t, d), newRepo(t, sample)
		p := behindHost(t, rig, d)
		removed := false
		p.AfterAnswer(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/volumes/create") }, func() {
			if !removed {
				removed = true
				d.docker("rmi", "-f", daemonImage)
			}
		})
		res, o := rig.execute(repo.task("true"))
		if o.exit != 4 || !hasCode(res, document.CodeImageUnusable) || !res.Box.Cleanup.Complete {
			t.Errorf("exit %d, issues %+v, cleanup %+v", o.exit, res.Issues, res.Box.Cleanup)
		}
		doc, exit := rig.refuse(marshal(t, repo.task("true")))
		if exit != 5 || doc.Error.Type != "bridge_failure" || !strings.Contains(doc.Error.Message, daemonImage) {
			t.Errorf("exit %d, %+v", exit, doc)
		}
	})
	t.Run("layers and all", func(t *testing.T) {
		d.load()
		rig, repo := daemonRig(t, d), newRepo(t, sample)
		layers, err := filepath.Glob(filepath.Join(d.root, "*", "*", "diff"))
		if err != nil || len(layers) == 0 {
			t.Skipf("this engine keeps its layers elsewhere (%v)", err)
		}
		for _, l := range layers {
			if err := os.RemoveAll(l); err != nil {
				t.Fatal(err)
			}
		}
		res, o := rig.execute(repo.task("true"))
		if o.exit != 4 || hasCode(res, document.CodeRunnerError) || !res.Box.Cleanup.Complete {
			t.Errorf("exit %d, issues %+v, cleanup %+v", o.exit, res.Issues, res.Box.Cleanup)
		}
		t.Logf("issues %+v", res.Issues)
	})
}

func TestAnEngineWhoseDiskIsFullFailsTheRunWithAResult(t *testing.T) {
	t.Parallel()
	root := smallDisk(t, "size=200m,mode=0711")
	d := newDaemon(t, root)
	rig, repo := daemonRig(t, d), newRepo(t, sample)
	fill(t, root)
	res, o := rig.execute(repo.task("true"))
	if o.exit == 0 || hasCode(res, document.CodeRunnerError) || !res.Box.Cleanup.Complete {
		t.Errorf("exit %d, issues %+v, cleanup %+v", o.exit, res.Issues, res.Box.Cleanup)
	}
	t.Logf("exit %d, issues %+v", o.exit, res.Issues)
}
