package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"

	"sandboxrun/internal/step"
	"sandboxrun/internal/testenv"
	_ "sandboxrun/runner" // whose steps are listed with those of the rooms below it
	"sandboxrun/runner/state"
)

// mortal is the program under test, built so that it can be killed at any step.
var mortal struct {
	once sync.Once
	path string
	err  error
}

func mortalProgram(t *testing.T) string {
	t.Helper()
	testenv.Engine(t, agentImage) // with -short there is no directory for programs, and the build would land in this one
	mortal.once.Do(func() {
		mortal.path = program + "-mortal"
		build := exec.Command("go", "build", "-trimpath", "-tags", "sandboxrun_mortal", "-o", mortal.path, "sandboxrun/cmd/sandboxrun")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			mortal.err = fmt.Errorf("build the mortal program: %w\n%s", err, out)
		}
	})
	if mortal.err != nil {
		t.Fatal(mortal.err)
	}
	return mortal.path
}

// death is a point at which a process is killed.
type death struct {
	step step.Name
	side step.Side
	nth  int // time the point is reached
}

func (d death) String() string {
	s := fmt.Sprintf("%s %s", d.step, d.side)
	if d.nth > 1 {
		s += fmt.Sprintf(" (%d.)", d.nth)
	}
	return s
}

// victim is a task whose process is killed, and its remains.
type victim struct {
	death
	rig     *rig
	repo    *repo
	plot    plot
	before  map[string]string // the repository's files
	run     string            // "" when the run never got a directory
	by      string            // what cleaned up
	faults  []string
	outcome string
}

func (v *victim) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

// dying runs the mortal program to a point, and reports whether it died there.
func (r *rig) dying(d death, stdin []byte, args ...string) (died bool, out []byte) {
	r.t.Helper()
	c := r.command(args...)
	c.Path = mortalProgram(r.t)
	c.Args[0] = c.Path
	c.Env = append(slices.Clone(c.Env), fmt.Sprintf("SANDBOXRUN_TEST_DIE=%s %s %d", d.step, d.side, d.nth), "SANDBOXRUN_TEST_TRACE="+r.trace())
	if stdin != nil {
		c.Stdin = strings.NewReader(string(stdin))
	}
	out, _ = c.CombinedOutput() // only its end is checked
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL, out
}

// tmp is the rig's own directory for temporary files.
func (r *rig) tmp() string { return filepath.Join(filepath.Dir(r.state), "tmp") }

func (r *rig) trace() string { return filepath.Join(filepath.Dir(r.state), "trace") }

// perish runs the victim's task to its death.
func (v *victim) perish() {
	known := v.rig.runIDs()
	v.before = fingerprint(v.rig.t, v.repo.dir)
	died, out := v.rig.dying(v.death, v.plot.stdin(v), v.plot.args...)
	if !died {
		_, issues, _ := strings.Cut(string(out), `"issues"`)
		v.fault("was not killed there: %.1000s", cmp.Or(issues, string(out)))
	}
	for _, id := range v.rig.runIDs() {
		if !slices.Contains(known, id) {
			v.run = id
		}
	}
}

// runIDs lists the directories of runs, finished in making or not.
func (r *rig) runIDs() []string {
	entries, err := os.ReadDir(filepath.Join(r.state, "runs"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids
}

// deaths lists every step with both sides, and once more those of a second box of the same run.
func deaths(of func(step.Name) bool) []death {
	var all []death
	for _, n := range state.Steps() {
		if !of(n) {
			continue
		}
		times := 1
		if slices.Contains(again, n) {
			times = 2
		}
		for nth := 1; nth <= times; nth++ {
			all = append(all, death{n, step.SideBefore, nth}, death{n, step.SideAfter, nth})
		}
	}
	return all
}

// sampled returns only one side of every step, alternately, unless every case is wanted.
func sampled(t *testing.T, all []death) []death {
	t.Helper()
	if testenv.All() {
		return all
	}
	var some []death
	for i, d := range all {
		if (i+i/2)%2 == 0 {
			some = append(some, d)
		}
	}
	t.Logf("sample: one side of every step, %d of %d points; \"make test-all\" runs every one", len(some), len(all))
	return some
}

// again are the steps that the second box of a run, the verifying one, takes as well.
var again = []step.Name{"tree/make", "tree/fill", "box/volume", "box/create", "box/attach", "box/start", "tunnel/open", "box/remove", "box/unvolume", "tree/remove"}

func ofReaper(n step.Name) bool { return strings.HasPrefix(string(n), "reap/") }

// chain is how many tasks of one state directory are killed one after the other; the next starts reap each of them.
const chain = 6

func TestKilledAtEveryStepARunLeavesNothingAndHasOneResult(t *testing.T) { //nolint:tparallel // eachDeath says so
	t.Parallel()
	testenv.Engine(t, agentImage)
	mortalProgram(t)
	var groups [][]*victim
	open := []*victim{}
	points := sampled(t, deaths(func(n step.Name) bool { return !ofReaper(n) && !ofCaller(n) }))
	for i, d := range points {
		v := &victim{death: d, plot: plotOf(d)}
		if alone := (i+i/2)%2 == 0; alone && (testenv.All() || i%4 == 0) || v.plot.alone { // half of them, or a quarter, are cleaned up one by one
			groups = append(groups, []*victim{v})
			continue
		}
		if open = append(open, v); len(open) == chain {
			groups, open = append(groups, open), []*victim{}
		}
	}
	if len(open) > 0 {
		groups = append(groups, open)
	}
	report := newReport()
	eachDeath(t, len(groups), func(t *testing.T, i int) {
		t.Helper()
		die(t, groups[i], i%2 == 0)
		report.add(groups[i]...)
	})
	report.print(t)
	report.compare(t, points)
}

// eachDeath runs numbered cases next to one another and returns when all have ended. The bound is that of go test: a case
// that waited for a bound of ours would keep the place of another test.
func eachDeath(t *testing.T, n int, do func(t *testing.T, i int)) {
	t.Helper()
	t.Run("deaths", func(t *testing.T) {
		for i := range n {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				do(t, i)
			})
		}
	})
}

// newKillRig is a rig with a directory of its own for temporary files.
func newKillRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.env = append(r.env, "TMPDIR="+r.tmp())
	if err := os.Mkdir(r.tmp(), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

// die kills the tasks of a group one after the other and cleans up.
func die(t *testing.T, group []*victim, reap bool) {
	t.Helper()
	r := newKillRig(t)
	for _, v := range group {
		v.rig, v.repo = r, newRepo(t, sample)
		if v.plot.begin != nil {
			v.plot.begin(v)
		}
		v.perish()
	}
	last := group[len(group)-1]
	last.clear(len(group) == 1 && reap)
	for _, v := range group {
		v.by = last.by
		v.examine(v == last)
	}
}

// report is the table of all deaths.
type report struct {
	mu   sync.Mutex
	rows map[string]*victim
	seen map[string]bool // points that some process reached
}

func newReport() *report { return &report{rows: map[string]*victim{}, seen: map[string]bool{}} }

func (p *report) add(victims ...*victim) {
	for _, v := range victims {
		body, err := os.ReadFile(v.rig.trace())
		if err != nil {
			v.fault("read trace: %v", err)
		}
		p.addAs(v.String(), v)
		p.mu.Lock()
		for line := range strings.Lines(string(body)) {
			p.seen[strings.TrimSpace(line)] = true
		}
		p.mu.Unlock()
	}
}

func (p *report) addAs(name string, v *victim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows[name] = v
}

func (p *report) print(t *testing.T) {
	t.Helper()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(p.rows)) {
		v := p.rows[name]
		fmt.Fprintf(table, "%s\t%s\t%s\t%d violations\n", name, v.by, v.outcome, len(v.faults))
		total += len(v.faults)
		for _, f := range v.faults {
			t.Errorf("killed at %s: %s", name, f)
		}
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("killed at %d points of %d steps: %d violations\n%s", len(p.rows), len(state.Steps()), total, text.String())
}

// compare compares the list of steps with the passed ones: a case dies at each listed step, and every passed step is
// listed.
func (p *report) compare(t *testing.T, want []death) {
	t.Helper()
	for _, d := range want {
		if p.rows[d.String()] == nil {
			t.Errorf("no case dies at %s", d)
		}
	}
	for line := range p.seen {
		name, side, ok := strings.Cut(line, " ")
		if !ok || side != string(step.SideBefore) && side != string(step.SideAfter) || !slices.Contains(state.Steps(), step.Name(name)) {
			t.Errorf("%q was passed but is not in the list of steps", line)
		}
	}
}
