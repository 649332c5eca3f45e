// Command bench times whole runs of sandboxrun beside a bare "docker run" and
// beside the shell script people write instead, in turn within one run, and
// prints a Markdown report of medians and ratios. It asserts nothing: a time
// is a property of a machine, a ratio within one run is worth comparing.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	bin := flag.String("bin", "bin/sandboxrun", "the program to time")
	image := flag.String("image", "sandboxrun/agent", "the image of every box")
	sizes := flag.String("files", "1000,13000,100000", "sizes of the generated repositories")
	rounds := flag.Int("rounds", 5, "counted rounds per size; two at most for sizes over 50000")
	flag.Parse()
	counts, err := parseSizes(*sizes)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sandboxrun-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder; a failure has no effect
	b := bench{bin: *bin, image: *image, dir: dir, rounds: *rounds, progress: os.Stderr}
	return b.report(os.Stdout, counts)
}

func parseSizes(s string) ([]int, error) {
	var out []int
	for f := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 1 || n > 1_000_000 {
			return nil, fmt.Errorf("-files: %q is not a number of files", f)
		}
		out = append(out, n)
	}
	return out, nil
}

// phaseOrder is the order of the phases in the table.
var phaseOrder = []string{"checkout", "open", "prepare", "agent", "close", "snapshot", "judge", "land", "settle", "total"}

// row is everything measured at one size.
type row struct {
	files               int
	cold                time.Duration // first run: the pristine base is made
	docker, shell, runs []sample
	phases              map[string][]int64
}

func (b *bench) report(w io.Writer, sizes []int) error {
	var rows []row
	for _, n := range sizes {
		r, err := b.measure(n)
		if err != nil {
			return fmt.Errorf("%d files: %w", n, err)
		}
		rows = append(rows, r)
	}
	fmt.Fprintf(w, "Medians of %d rounds, of two at most for more than 50000 files, contenders in turn; image %s.\n\n", b.rounds, b.image)
	fmt.Fprintln(w, "| files | docker run … true | shell script | sandboxrun | to docker run | to shell script | first run on a commit | peak RSS |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		d, s, x := median(r.docker), median(r.shell), median(r.runs)
		fmt.Fprintf(w, "| %d | %s | %s | %s | %.2f× | %.2f× | %s | %d MiB |\n", r.files, sec(d), sec(s), sec(x),
			x.Seconds()/d.Seconds(), x.Seconds()/s.Seconds(), sec(r.cold), peak(r.runs)/1024)
	}
	fmt.Fprintf(w, "\nPhases of a run (median ms):\n\n| files | %s |\n|---|%s\n", strings.Join(phaseOrder, " | "), strings.Repeat("---|", len(phaseOrder)))
	for _, r := range rows {
		cells := []string{fmt.Sprint(r.files)}
		for _, p := range phaseOrder {
			cells = append(cells, fmt.Sprint(middle(r.phases[p])))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.costs(w, sizes[0])
}

// measure times the contenders in turn, so that a drift of the machine's speed affects them equally.
func (b *bench) measure(n int) (row, error) {
	r := row{files: n, phases: map[string][]int64{}}
	repo, state := filepath.Join(b.dir, fmt.Sprintf("repo-%d", n)), filepath.Join(b.dir, fmt.Sprintf("state-%d", n))
	fmt.Fprintf(b.progress, "bench: making a repository of %d files\n", n)
	if err := makeRepo(repo, n); err != nil {
		return r, err
	}
	task, err := b.writeTask(repo, n, 0)
	if err != nil {
		return r, err
	}
	rounds := b.rounds
	if n > 50_000 { // the shell script takes most of a minute
		rounds = min(rounds, 2)
	}
	for round := -1; round < rounds; round++ {
		fmt.Fprintf(b.progress, "bench: %d files, round %d of %d\n", n, round+1, rounds)
		d, _, err := timed(b.dockerRun())
		if err != nil {
			return r, err
		}
		s, _, err := timed(b.shell(repo))
		if err != nil {
			return r, err
		}
		x, doc, err := timed(b.execute(state, task))
		if err != nil {
			return r, err
		}
		phases, err := timing(doc)
		if err != nil {
			return r, err
		}
		if round < 0 { // the first round warms caches and creates the base
			r.cold = x.wall
			continue
		}
		r.docker, r.shell, r.runs = append(r.docker, d), append(r.shell, s), append(r.runs, x)
		for name, ms := range phases {
			r.phases[name] = append(r.phases[name], ms)
		}
	}
	return r, nil
}

func middle(ms []int64) int64 {
	if len(ms) == 0 {
		return 0
	}
	slices.Sort(ms)
	return ms[len(ms)/2]
}

func sec(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
