package e2e

import (
	"slices"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// hostile is a command that exceeds a limit, and what the result must report.
type hostile struct {
	name, command, code, measure string
	seconds                      int
	box, limits                  map[string]any
	// ownKernel is the code where the box has a kernel of its own, which takes some of the load itself; "" for the
	// same code, "-" for none.
	ownKernel string
	// everywhere says that it is tried in setup and in verification too: one case of each limit is enough.
	everywhere bool
}

var hostiles = []hostile{
	{name: "floods output without a newline", command: "cat /dev/zero | tr '\\0' x", code: "output_limit", measure: "output_bytes", seconds: 120},
	{name: "says yes on standard error", command: "yes >&2", code: "output_limit", measure: "output_bytes", seconds: 120,
		limits: map[string]any{"output": "1m"}, everywhere: true},
	{name: "forks without end", command: "f() { f | f & }; f; sleep 100", code: "pids_limit", measure: "pids", seconds: 60,
		box: map[string]any{"pids": 64}, ownKernel: "-", everywhere: true},
	{name: "starts threads without end", code: "pids_limit", measure: "pids", seconds: 60, box: map[string]any{"pids": 64}, ownKernel: "-",
		command: `node -e 'const {Worker} = require("worker_threads"); setInterval(() => new Worker("setInterval(() => {}, 1e9)", {eval: true}), 5)'`},
	{name: "collects zombies", code: "pids_limit", measure: "pids", seconds: 60, box: map[string]any{"pids": 64}, ownKernel: "-",
		command: `perl -e 'for (;;) { my $p = fork; exit 0 if defined $p && !$p; select undef, undef, undef, 0.002 }'`},
	{name: "eats memory", command: "tail /dev/zero", code: "memory_limit", measure: "memory_bytes", seconds: 60,
		box: map[string]any{"memory": "96m"}, everywhere: true},
	{name: "eats memory in the background", command: "(tail /dev/zero &) ; sleep 60", code: "memory_limit", measure: "memory_bytes", seconds: 50,
		box: map[string]any{"memory": "96m"}},
	{name: "eats memory by temporary files", command: "head -c 500M /dev/zero > /tmp/big; sleep 60", code: "memory_limit", measure: "memory_bytes", seconds: 50,
		box: map[string]any{"memory": "96m"}, limits: map[string]any{"temp": "1g"}},
	{name: "ignores signals", command: "trap '' TERM INT HUP; while :; do sleep 1; done", code: "runtime_limit", measure: "runtime_seconds", seconds: 8, everywhere: true},
	{name: "stops itself", command: "kill -STOP $$", code: "runtime_limit", measure: "runtime_seconds", seconds: 8},
	{name: "says nothing", command: "sleep 60", code: "runtime_limit", measure: "idle_seconds", seconds: 50, limits: map[string]any{"idle_seconds": 5}},
	{name: "writes through to the disk", command: "while :; do dd if=/dev/zero of=f bs=4k count=1000 oflag=sync 2>/dev/null; done",
		code: "runtime_limit", measure: "runtime_seconds", seconds: 8},
	{name: "fills the tree", command: "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/urandom > f$i; done",
		code: "disk_limit", measure: "tree_bytes", seconds: 60, box: map[string]any{"disk": "20m"}, everywhere: true},
	{name: "holds deleted files open", code: "disk_limit", measure: "tree_bytes", seconds: 60, box: map[string]any{"disk": "20m"}, ownKernel: "-",
		command: "for i in 3 4 5 6; do eval \"exec $i>big$i\"; rm big$i; head -c 15000000 /dev/zero >&$i; done; sleep 50"},
	{name: "makes many small files", command: "seq 1 1000000 | xargs touch; sleep 50", code: "disk_limit", measure: "tree_files", seconds: 60,
		limits: map[string]any{"tree_files": 3000}},
	{name: "digs without end", command: "perl -e 'for (1 .. 1200) { mkdir \"d\"; chdir \"d\" or exit }'; sleep 50",
		code: "disk_limit", measure: "tree_depth", seconds: 60},
}

// In gVisor a sample has one of each limit that the box's kernel has a part in.
func TestHostileCommandsHitTheirLimit(t *testing.T) {
	t.Parallel()
	for _, h := range hostiles {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			h.hit(t, "")
		})
		if !testenv.All() && (!h.everywhere || h.measure == "runtime_seconds") {
			continue
		}
		t.Run(h.name+" in gVisor", func(t *testing.T) {
			t.Parallel()
			if h.ownKernel != "" {
				t.Skip("the box's own kernel counts this; the host's limit on memory bounds it")
			}
			testenv.Runtime(t, "runsc")
			h.hit(t, "runsc")
		})
	}
}

// start is the rig and the task of the hostile command.
func (h hostile) start(t *testing.T, commands ...string) (*rig, map[string]any) {
	t.Helper()
	rig, repo := newRig(t), newRepo(t, sample)
	if h.limits != nil {
		rig.config["limits"] = h.limits
	}
	task := repo.task(commands...)
	task["max_runtime_seconds"] = h.seconds
	if h.box != nil {
		task["box"] = h.box
	}
	return rig, task
}

// hit lets the command run in the working box.
func (h hostile) hit(t *testing.T, runtime string) {
	t.Helper()
	var flags []string
	if runtime != "" {
		h.seconds += 4 // gVisor starts more slowly
		flags = []string{"--runtime", runtime}
	}
	rig, task := h.start(t, "echo done > before.txt", h.command)
	began := time.Now()
	res, o := rig.execute(task, flags...)
	h.told(t, res, o)
	if took := time.Since(began); took > time.Duration(h.seconds)*time.Second+45*time.Second {
		t.Errorf("took %s with a limit of %d s", took, h.seconds)
	}
	if h.measure != "tree_depth" && (res.Status != document.StatusPartial || changes(res)["before.txt"] != "added") {
		t.Errorf("status %s, %d files: the earlier work is lost", res.Status, len(res.FilesChanged))
	}
	if len(res.CommandsRun) != 2 {
		t.Fatalf("%d commands were run", len(res.CommandsRun))
	}
	last := res.CommandsRun[1]
	if last.ExitCode != nil {
		t.Errorf("a command that was stopped has exit code %d", *last.ExitCode)
	}
	if last.TimedOut != (h.code == "runtime_limit") {
		t.Errorf("timed_out is %v", last.TimedOut)
	}
}

// told checks that the result names the limit and the measurement.
func (h hostile) told(t *testing.T, res document.Result, o outcome) {
	t.Helper()
	at := slices.IndexFunc(res.Issues, func(i document.Issue) bool { return i.Code == h.code })
	if o.exit != 6 || at < 0 {
		t.Fatalf("exit %d, codes %v, want 6 and %s\n%+v", o.exit, codes(res), h.code, res.Issues)
	}
	reached := res.Issues[at].Limit
	if reached == nil || reached.Name != h.measure || reached.Allowed <= 0 || reached.Measured < reached.Allowed {
		t.Errorf("the limit is reported as %+v, want %s: %s", reached, h.measure, res.Issues[at].Description)
	}
	if res.Box == nil || !res.Box.Cleanup.Complete {
		t.Errorf("not removed: %+v", res.Box)
	}
}

// A sample has each limit in one of the two, by turns.
func TestLimitsHoldInSetupAndVerificationToo(t *testing.T) {
	t.Parallel()
	settingUp := false
	for _, h := range hostiles {
		if !h.everywhere {
			continue
		}
		settingUp = !settingUp
		if testenv.All() || settingUp {
			t.Run(h.name+" while setting up", func(t *testing.T) {
				t.Parallel()
				h.hitSetup(t)
			})
		}
		if testenv.All() || !settingUp {
			t.Run(h.name+" in verification", func(t *testing.T) {
				t.Parallel()
				h.hitVerification(t)
			})
		}
	}
}

func (h hostile) hitSetup(t *testing.T) {
	t.Helper()
	rig, task := h.start(t, "echo done > after.txt")
	task["setup_commands"] = []string{h.command}
	res, o := rig.execute(task)
	h.told(t, res, o)
	if res.Status == document.StatusSuccess || len(res.CommandsRun) != 1 {
		t.Errorf("status %s, commands %+v", res.Status, res.CommandsRun)
	}
}

func (h hostile) hitVerification(t *testing.T) {
	t.Helper()
	rig, task := h.start(t, "echo done > before.txt")
	task["acceptance_criteria"] = []any{map[string]any{"command": h.command}}
	res, o := rig.execute(task)
	h.told(t, res, o)
	if res.Acceptance[0].Verdict == "pass" || res.Status == document.StatusSuccess {
		t.Errorf("status %s, acceptance %+v", res.Status, res.Acceptance)
	}
}

func TestNothingStartsOnADiskThatIsTooFull(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["limits"] = map[string]any{"free_disk": "900t"}
	res, o := rig.execute(repo.task("true"))
	at := slices.IndexFunc(res.Issues, func(i document.Issue) bool { return i.Code == "disk_limit" })
	if o.exit != 6 || at < 0 || res.Issues[at].Limit == nil || res.Issues[at].Limit.Name != "host_free_bytes" || len(res.CommandsRun) > 0 {
		t.Errorf("exit %d, issues %+v, commands %+v", o.exit, res.Issues, res.CommandsRun)
	}
}

// Limits that do not end the box: the kernel refuses the process that exceeds one, and the others continue. gVisor
// does not count the files of a tmpfs; there the limit on memory bounds them.
const boundedCommands = `
n=0; bad() { echo "NOT BOUNDED: $*"; n=1; }
head -c 20M /dev/zero > /tmp/a 2>/dev/null && bad bytes of /tmp
[ $runtime = runc ] && perl -e 'for (1 .. 50000) { open F, ">", "/tmp/$_" or exit 1 }' && bad files of /tmp
rm -rf /tmp/*
head -c 20M /dev/zero > $HOME/a 2>/dev/null && bad bytes of HOME
rm -f $HOME/a
head -c 140M /dev/zero > /dev/shm/a 2>/dev/null && bad bytes of /dev/shm
rm -f /dev/shm/a
(truncate -s 1T sparse) 2>/dev/null && bad a sparse file
rm -f sparse
[ "$(ulimit -n)" = 200 ] || bad open files: $(ulimit -n)
node -e 'const fs = require("fs"); for (let i = 0; i < 1000; i++) fs.openSync("/etc/hosts")' 2>/dev/null && bad descriptors
[ "$(ulimit -c)" = 0 ] || bad core
[ "$(ulimit -H -f)" != unlimited ] || bad file size
echo fine > fine.txt; exit $n`

func TestKernelLimitsDoNotEndTheBox(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{"runc", "runsc"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			testenv.Runtime(t, runtime)
			rig, repo := newRig(t), newRepo(t, sample)
			rig.config["limits"] = map[string]any{"temp": "16m", "open_files": 200}
			task := repo.task("runtime=" + runtime + boundedCommands)
			task["box"] = map[string]any{"memory": "256m"} // of which /dev/shm may take half
			res, o := rig.execute(task, "--runtime", runtime)
			c := res.CommandsRun[0]
			if o.exit != 0 || c.ExitCode == nil || *c.ExitCode != 0 || changes(res)["fine.txt"] != "added" {
				t.Errorf("exit %d, %v\n%s\n%s", o.exit, codes(res), c.StdoutExcerpt, c.StderrExcerpt)
			}
		})
	}
}

func TestProcessesThatOutliveTheirShellEndWithTheBox(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, o := rig.execute(repo.task("(setsid sh -c 'while :; do date > late.txt; sleep 0.1; done' &) ; echo started"))
	if o.exit != 0 || *res.CommandsRun[0].ExitCode != 0 {
		t.Errorf("exit %d, %v", o.exit, codes(res))
	}
}
