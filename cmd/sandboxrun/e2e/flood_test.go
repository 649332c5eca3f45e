package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// peakBound is how much memory the program may ever use, in bytes, whatever a box does within its limits.
const peakBound = 200 << 20

// heapGoal is the heap size above which the program collects at any cost; below it a peak reflects the collector's
// timing rather than the load.
const heapGoal = 100 << 20

// long reports whether floods have their full size: SANDBOXRUN_LONG=1, minutes and tens of gigabytes.
func long() bool { return os.Getenv("SANDBOXRUN_LONG") != "" }

// flood is a load of variable size. Memory must not grow with it, or at most by a fixed number of bytes a unit where
// growth is inherent.
type flood struct {
	name       string
	unit       string
	size, full int64 // in "make test", and in full
	perUnit    int64 // of memory; 0 for flat
	files      map[string]string
	box        map[string]any
	limits     map[string]any
	agent      string // fmt of its name with the size, "" for commands
	command    string // fmt with the size
	// ended returns what is wrong with the run's result, or "".
	ended func(res document.Result, size int64) string
}

// acpFlooder is an agent that floods before it ends its turn in an orderly way: "line N" prints one message of N
// bytes, "events N" as many small ones.
const acpFlooder = `
const [kind, n] = [process.argv[2], Number(process.argv[3])]
const {writeSync} = require('fs')
function put(text) {
  let b = Buffer.from(text)
  while (b.length) { try { b = b.subarray(writeSync(1, b)) } catch (e) { if (e.code != 'EAGAIN') throw e } }
}
const say = m => put(JSON.stringify({jsonrpc: '2.0', ...m}) + '\n')
const update = text => ({method: 'session/update', params: {sessionId: 's', update: {sessionUpdate: 'agent_message_chunk', content: {type: 'text', text}}}})
function work() {
  if (kind == 'line') {
    const [before, after] = JSON.stringify({jsonrpc: '2.0', ...update('@')}).split('@')
    put(before)
    const chunk = 'x'.repeat(1 << 20)
    for (let left = n; left > 0; left -= chunk.length) put(chunk.slice(0, left))
    put(after + '\n')
  } else {
    let lines = ''
    for (let i = 0; i < n; i++) {
      lines += JSON.stringify({jsonrpc: '2.0', ...update('word ' + i + ' ')}) + '\n'
      if (lines.length > 60000) { put(lines); lines = '' }
    }
    put(lines)
  }
  say(update('done'))
}
require('readline').createInterface({input: process.stdin}).on('line', l => {
  const m = JSON.parse(l)
  if (m.method == 'initialize') say({id: m.id, result: {protocolVersion: 1, agentInfo: {name: 'x', version: '1'}, agentCapabilities: {}}})
  else if (m.method == 'session/new') say({id: m.id, result: {sessionId: 's'}})
  else if (m.method == 'session/prompt') { work(); say({id: m.id, result: {stopReason: 'end_turn'}}) }
  else if (m.id !== undefined) say({id: m.id, result: {}})
})
`

var floods = []flood{
	{name: "standard output", unit: "bytes", size: 256 << 20, full: 10 << 30, limits: map[string]any{"output": "100g"},
		command: "yes 'a line of some length that is printed again and again' | head -c %d", ended: printedAll},
	{name: "standard error", unit: "bytes", size: 64 << 20, full: 2 << 30, limits: map[string]any{"output": "100g"},
		command: "yes 'a line of some length' | head -c %d >&2", ended: endsWell},
	{name: "a line without an end", unit: "bytes", size: 192 << 20, full: 5 << 30, limits: map[string]any{"output": "100g"},
		command: "head -c %d /dev/zero | tr '\\0' x", ended: printedAll},
	{name: "a line of an agent", unit: "bytes", size: 96 << 20, full: 100 << 20, agent: "acp:node agent.js line %d",
		files: map[string]string{"agent.js": acpFlooder}, ended: onlyTalks},
	{name: "events of an agent", unit: "events", size: 40_000, full: 1_000_000, limits: map[string]any{"output": "1g"}, agent: "acp:node agent.js events %d",
		files: map[string]string{"agent.js": acpFlooder}, ended: onlyTalks},
	{name: "a file in the difference", unit: "bytes", size: 20 << 20, full: 60 << 20,
		command: "head -c %d /dev/urandom > big.bin", ended: changedFiles(1)},
	{name: "a text in the difference", unit: "bytes", size: 20 << 20, full: 60 << 20,
		command: "seq 1 100000000 | head -c %d > big.txt", ended: changedFiles(1)},
	{name: "a file too large to capture", unit: "bytes", size: 256 << 20, full: 1 << 30,
		command: "head -c %d /dev/zero > big.bin; echo x > x", ended: tooLarge},
	{name: "changed files", unit: "files", size: 6_000, full: 100_000, perUnit: 2200,
		command: "mkdir n; cd n; seq 1 %d | split -l 1 -a 6 --numeric-suffixes", ended: changedAll},
	{name: "files with paths of 4 kB", unit: "files", size: 6_000, full: 50_000, perUnit: 16_000,
		command: "d=$(printf '%%0250d' 0); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do mkdir $d; cd $d; done; seq -f '%%0240.0f' 1 %d | xargs touch", ended: longPaths},
	{name: "ignored files", unit: "files", size: 16_000, full: 400_000, perUnit: 300,
		command: "mkdir -p ignored; cd ignored; seq 1 %d | xargs touch; echo x > ../x", ended: changedFiles(1)},
	{name: "files in the tree", unit: "files", size: 8_000, full: 1_000_000, perUnit: 2200, limits: map[string]any{"tree_files": 600_000},
		command: "mkdir n; cd n; seq 1 %d | xargs touch", ended: stoppedByDisk},
}

func TestMemoryStaysFlatWhateverABoxDoes(t *testing.T) { //nolint:tparallel // its floods come one after the other
	t.Parallel()
	testenv.Engine(t, agentImage)
	for _, f := range testenv.Sample(t, floods, 3) {
		t.Run(f.name, func(t *testing.T) {
			n := f.size
			if long() {
				n = f.full
			}
			small := f.measure(t, n/8)
			large := f.measure(t, n)
			t.Logf("%-28s %11d %-6s %6.1fs  peak %4d MiB (an eighth: %4d MiB)  engine %d → %d MiB", f.name, n, f.unit,
				large.took.Seconds(), large.peak>>20, small.peak>>20, large.engineBefore>>20, large.engineAfter>>20)
			if large.peak > peakBound {
				t.Errorf("the program took %d MiB, more than %d", large.peak>>20, peakBound>>20)
			}
			if most := max(small.peak*13/10+f.perUnit*(n-n/8), heapGoal); large.peak > most {
				t.Errorf("%d %s took %d MiB and %d took %d: memory grows with the load", n/8, f.unit, small.peak>>20, n, large.peak>>20)
			}
			if grown := large.engineAfter - large.engineBefore; grown > 64<<20 {
				t.Errorf("the engine grew by %d MiB", grown>>20)
			}
		})
	}
}

// footprint is the cost of a run.
type footprint struct {
	peak, engineBefore, engineAfter int64 // bytes
	took                            time.Duration
}

// measure runs the flood once and measures the program meanwhile.
func (f flood) measure(t *testing.T, n int64) footprint {
	t.Helper()
	rig := newRig(t)
	files := map[string]string{".gitignore": "ignored/\n"}
	maps.Copy(files, f.files)
	repo := newRepo(t, files)
	rig.timeout = time.Hour
	rig.config["limits"] = f.limits
	if f.limits == nil {
		delete(rig.config, "limits")
	}
	task := repo.task()
	if f.agent != "" {
		task["execution_mode"], task["agent"], task["instructions"] = "code", map[string]any{"name": fmt.Sprintf(f.agent, n), "provider": "anthropic"}, "Flood."
		delete(task, "suggested_commands")
	} else {
		task["suggested_commands"] = []string{fmt.Sprintf(f.command, n)}
	}
	task["max_runtime_seconds"] = 3000
	if f.box != nil {
		task["box"] = f.box
	}
	return watched(t, rig, task, func(res document.Result) string { return f.ended(res, n) })
}

// watched runs a task and samples the program's peak memory. Its final value is lost with the process, so the last
// sample counts.
func watched(t *testing.T, r *rig, task map[string]any, ended func(document.Result) string) footprint {
	t.Helper()
	var out, errs bytes.Buffer
	c := r.command("execute", "--quiet", "--land", "none", "-")
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(marshal(t, task)), &out, &errs
	f := footprint{engineBefore: engineMemory(t)}
	began := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(r.timeout)
	for running := true; running; {
		select {
		case err := <-done:
			var exit *exec.ExitError // its cause is in the result
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			running = false
		case <-tick.C:
			if now := memoryOf(c.Process.Pid, "VmHWM"); now > f.peak {
				f.peak = now
			}
		case <-late:
			err := errors.Join(c.Process.Kill(), <-done)
			t.Fatalf("did not end within %s: %v\n%s", r.timeout, err, errs.Bytes())
		}
	}
	f.took, f.engineAfter = time.Since(began), engineMemory(t)
	var res document.Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil || res.RunID == "" {
		t.Fatalf("no result: %v\n%.2000s\n%.2000s", err, out.Bytes(), errs.Bytes())
	}
	if wrong := ended(res); wrong != "" {
		t.Errorf("%s\n%+v", wrong, res.Issues)
	}
	if f.peak == 0 {
		t.Fatal("the program's memory could not be measured")
	}
	return f
}

// memoryOf reads a size of /proc/PID/status in bytes, 0 when there is none.
func memoryOf(pid int, name string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// engineMemory is the resident memory of the Docker daemon of this machine, 0 where it is not visible.
func engineMemory(t *testing.T) int64 {
	t.Helper()
	pid, err := os.ReadFile("/var/run/docker.pid")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatalf("docker.pid: %v", err)
	}
	return memoryOf(n, "VmRSS")
}

// onlyTalks is how a run ends whose agent changed nothing, with nothing to measure.
func onlyTalks(res document.Result, _ int64) string {
	if res.Status != document.StatusPartial || !hasCode(res, document.CodeNoChanges) {
		return "status " + string(res.Status)
	}
	return ""
}

func endsWell(res document.Result, _ int64) string {
	if res.Status != document.StatusSuccess {
		return "status " + string(res.Status)
	}
	return ""
}

// printedAll checks that everything was read: the excerpt counts the omitted bytes.
func printedAll(res document.Result, size int64) string {
	c := res.CommandsRun[0]
	if c.ExitCode == nil || !c.Truncated || !strings.Contains(c.StdoutExcerpt, strconv.FormatInt(size-16<<10, 10)) {
		return fmt.Sprintf("the command's output was not read to its end: %.200q", c.StdoutExcerpt[max(0, len(c.StdoutExcerpt)/2-100):])
	}
	return logIsBounded(res)
}

func logIsBounded(res document.Result) string {
	for _, path := range res.Logs {
		fi, err := os.Stat(path)
		if err != nil || fi.Size() > 64<<20 {
			return fmt.Sprintf("log %s: %v", filepath.Base(path), err)
		}
	}
	return ""
}

func changedFiles(n int) func(document.Result, int64) string {
	return func(res document.Result, _ int64) string {
		if len(res.FilesChanged) != n {
			return fmt.Sprintf("%d files changed, want %d", len(res.FilesChanged), n)
		}
		return ""
	}
}

func changedAll(res document.Result, size int64) string { return changedFiles(int(size))(res, size) }

// longPaths checks that paths of four thousand bytes each are all reported or counted, and refused beyond 32 MiB together.
func longPaths(res document.Result, size int64) string {
	switch {
	case size > 8_400: // 32 MiB
		if !hasCode(res, "tree_too_large") || len(res.FilesChanged) > 0 {
			return fmt.Sprintf("more paths than a change may have: %d files, %v", len(res.FilesChanged), codes(res))
		}
	case len(res.FilesChanged)+res.FilesOmitted != int(size) || len(res.FilesChanged) > 4500:
		return fmt.Sprintf("%d files changed and %d omitted, want %d together", len(res.FilesChanged), res.FilesOmitted, size)
	}
	return ""
}

func tooLarge(res document.Result, size int64) string {
	if size > 64<<20 && !hasCode(res, "file_too_large") {
		return "a file above the bound was not reported"
	}
	return ""
}

func stoppedByDisk(res document.Result, size int64) string {
	if size > 600_000 && !hasCode(res, "disk_limit") && !hasCode(res, "tree_too_large") {
		return "more files than allowed were not reported"
	}
	return ""
}
