package e2e

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/runner/document"
)

func TestBoxesOfARunShareWhatTheyMayPrint(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["limits"] = map[string]any{"output": "1m"}
	text := "head -c 700000 /dev/zero | tr '\\0' x; echo x > x"
	task := repo.task(text)
	task["acceptance_criteria"] = []any{map[string]any{"command": text}}
	res, o := rig.execute(task)
	hostile{code: "output_limit", measure: "output_bytes"}.told(t, res, o)
	if len(res.CommandsRun) != 2 || res.CommandsRun[0].ExitCode == nil {
		t.Errorf("commands %+v", res.CommandsRun)
	}
}

func TestProcessorLimitOfABoxHolds(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task(`for i in 1 2 3 4; do timeout 4 sh -c 'while :; do :; done' & done; wait; times`)
	task["box"] = map[string]any{"cpus": 0.25}
	res, _ := rig.execute(task)
	lines := strings.Split(strings.TrimSpace(res.CommandsRun[0].StdoutExcerpt), "\n")
	var used time.Duration
	for part := range strings.FieldsSeq(lines[len(lines)-1]) { // of the children: user and system, as 0m1.5s
		d, err := time.ParseDuration(part)
		if err != nil {
			t.Fatalf("times printed %q: %v", lines, err)
		}
		used += d
	}
	if used > 3*time.Second || used == 0 { // a quarter of four seconds, and a machine that is busy
		t.Errorf("four loops of four seconds used %s of processor time with a quarter of a processor", used)
	}
}

// crowded is a rig with one live run that uses the whole quota.
func crowded(t *testing.T, limits map[string]any) (*rig, *repo, *live) {
	t.Helper()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["limits"] = limits
	l := startLive(t, rig, repo)
	t.Cleanup(func() { // before the rig checks for leftovers
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		if out, err := rig.command("reap").CombinedOutput(); err != nil {
			t.Errorf("reap: %v: %s", err, out)
		}
	})
	return rig, repo, l
}

func TestOneRunTooManyIsRefusedAsABridgeFailure(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]map[string]any{
		"runs":   {"runs": 1, "wait_seconds": -1},
		"memory": {"total_memory": "3g", "wait_seconds": -1}, // a box has two by default
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, repo, _ := crowded(t, limits)
			doc, exit := rig.refuse(marshal(t, repo.task("true")))
			if exit != 5 || doc.Error.Type != "bridge_failure" || !strings.Contains(doc.Error.Message, "no room") || doc.Error.Hint == "" {
				t.Errorf("exit %d, %+v", exit, doc)
			}
			small := repo.task("true")
			small["box"] = map[string]any{"memory": "512m"}
			if name == "memory" {
				if res, o := rig.execute(small); o.exit != 0 {
					t.Errorf("a run that fits: exit %d, %+v", o.exit, res.Issues)
				}
			}
		})
	}
}

func TestATaskThatCanNeverFitIsInvalid(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["limits"] = map[string]any{"total_memory": "1g"}
	doc, exit := rig.refuse(marshal(t, repo.task("true")))
	if exit != 2 || len(doc.Error.Details) != 1 || doc.Error.Details[0].Path != "/box/memory" {
		t.Errorf("exit %d, %+v", exit, doc)
	}
}

func TestAWaitingRunTakesThePlaceOfOneThatWasKilled(t *testing.T) {
	t.Parallel()
	rig, repo, l := crowded(t, map[string]any{"runs": 1})
	var out, errs bytes.Buffer
	second := rig.command("execute", "-")
	second.Stdin, second.Stdout, second.Stderr = bytes.NewReader(marshal(t, repo.task("echo x > x"))), &out, nil
	said, err := second.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for !strings.Contains(errs.String(), "1 of 1 runs are active") {
		n, err := said.Read(buffer)
		errs.Write(buffer[:n])
		if err != nil {
			t.Fatalf("did not report that it waits: %v: %s", err, errs.Bytes())
		}
	}
	if err := l.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for {
			if _, err := said.Read(buffer); err != nil {
				return
			}
		}
	}()
	<-drained
	_ = second.Wait() // the result is checked
	var res document.Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil || res.Status != document.StatusSuccess {
		t.Errorf("%v: %s", err, out.Bytes())
	}
}

func TestARunThatTakesTheHostsLastSpaceIsStopped(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.state = smallDisk(t, "size=300m,mode=0700")
	rig.env = append(rig.env, "SANDBOXRUN_STATE_DIR="+rig.state)
	rig.config["limits"] = map[string]any{"free_disk": "100m"}
	res, o := rig.execute(repo.task("i=0; while :; do i=$((i+1)); head -c 10000000 /dev/urandom > f$i; done"))
	h := hostile{code: "disk_limit", measure: "host_free_bytes"}
	at := slices.IndexFunc(res.Issues, func(i document.Issue) bool { return i.Code == h.code })
	if o.exit != 6 || at < 0 || res.Issues[at].Limit == nil || res.Issues[at].Limit.Name != h.measure {
		t.Fatalf("exit %d, %+v", o.exit, res.Issues)
	}
	if l := res.Issues[at].Limit; l.Allowed != 100<<20 || l.Measured >= l.Allowed || l.Measured == 0 {
		t.Errorf("stopped at %d bytes free, with a floor of %d", l.Measured, l.Allowed)
	}
}

func TestStateDirectoryMayHaveACommaInItsName(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.state = filepath.Join(filepath.Dir(rig.state), "state, of a kind")
	rig.env = append(rig.env, "SANDBOXRUN_STATE_DIR="+rig.state)
	if res, o := rig.execute(repo.task("echo x > x")); o.exit != 0 || res.Box.Layout != "copy" {
		t.Errorf("exit %d, %+v", o.exit, res.Issues)
	}
}
