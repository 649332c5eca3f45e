package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox/sandboxtest"
)

// behind puts a fault proxy between the rig's program and the real engine.
func behind(t *testing.T, r *rig) *sandboxtest.FaultProxy {
	t.Helper()
	p := sandboxtest.NewFaultProxy(t, "/var/run/docker.sock")
	r.env = append(r.env, "DOCKER_HOST="+p.Host())
	return p
}

func TestAnAbsentEngineIsABridgeFailure(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.env = append(rig.env, "DOCKER_HOST=unix:///nonexistent/docker.sock")
	doc, exit := rig.refuse(marshal(t, repo.task("true")))
	if exit != 5 || doc.Error.Type != "bridge_failure" || doc.Error.Hint == "" {
		t.Errorf("exit %d, %+v", exit, doc)
	}
}

func TestAHungEngineIsABridgeFailureInBoundedTime(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.hasten()
	behind(t, rig).Hang(true)
	began := time.Now()
	doc, exit := rig.refuse(marshal(t, repo.task("true")))
	if exit != 5 || doc.Error.Type != "bridge_failure" {
		t.Errorf("exit %d, %+v", exit, doc)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestATooOldEngineIsABridgeFailureNamingTheVersion(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	behind(t, rig).Version("1.39")
	doc, exit := rig.refuse(marshal(t, repo.task("true")))
	if exit != 5 || doc.Error.Type != "bridge_failure" || !strings.Contains(doc.Error.Message+doc.Error.Hint, "1.41") {
		t.Errorf("exit %d, %+v", exit, doc)
	}
}

func TestAnEngineThatFailsToStartABoxFailsTheRunWithAResult(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	p := behind(t, rig)
	p.Answer(http.StatusInternalServerError, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/start") })
	res, o := rig.execute(repo.task("true"))
	if o.exit != 4 || res.Status != document.StatusFailed || !res.Box.Cleanup.Complete {
		t.Errorf("exit %d, %s, %v, cleanup %+v", o.exit, res.Status, codes(res), res.Box.Cleanup)
	}
}

func TestEngineThatDiesDuringARunIsReported(t *testing.T) {
	t.Parallel()
	type fault struct{ begin, end func(*sandboxtest.FaultProxy) }
	for name, fault := range map[string]fault{
		"gone": {(*sandboxtest.FaultProxy).Refuse, (*sandboxtest.FaultProxy).Accept},
		"hung": {func(p *sandboxtest.FaultProxy) { p.Hang(true) }, func(p *sandboxtest.FaultProxy) { p.Hang(false) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			rig.hasten()
			p := behind(t, rig)
			l := startLive(t, rig, repo)
			fault.begin(p)
			began := time.Now()
			_ = l.cmd.Wait() // the exit code is checked below
			var res document.Result
			if err := json.Unmarshal(l.out.Bytes(), &res); err != nil {
				t.Fatalf("no result: %v: %s", err, l.out.Bytes())
			}
			if l.cmd.ProcessState.ExitCode() != 4 || res.Status != document.StatusFailed || !hasCode(res, "engine_lost") {
				t.Errorf("exit %d, %s, %v", l.cmd.ProcessState.ExitCode(), res.Status, codes(res))
			}
			if res.Box.Cleanup.Complete || !hasCode(res, "cleanup_failed") || len(res.FilesChanged) != 0 {
				t.Errorf("a box that may still run was reported as removed: %+v, %v", res.Box.Cleanup, codes(res))
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %s", took)
			}
			fault.end(p)
			if o := rig.run(nil, "reap"); o.exit != 0 || !bytes.Contains(o.stdout, []byte(l.run)) {
				t.Errorf("reap: exit %d: %s%s", o.exit, o.stdout, o.stderr)
			}
		})
	}
}
