package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// phaseOrder is the order in which a run walks.
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
	fmt.Fprintf(w, "Medians of %d rounds, contenders in turn; image %s.\n\n", b.rounds, b.image)
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
	return nil
}

// measure times the contenders in turn, so that all of them meet the machine at
// the same speed, however it drifts.
func (b *bench) measure(n int) (row, error) {
	r := row{files: n, phases: map[string][]int64{}}
	repo, state := filepath.Join(b.dir, fmt.Sprintf("repo-%d", n)), filepath.Join(b.dir, fmt.Sprintf("state-%d", n))
	fmt.Fprintf(b.progress, "bench: making a repository of %d files\n", n)
	if err := makeRepo(repo, n); err != nil {
		return r, err
	}
	task, err := b.writeTask(repo, n)
	if err != nil {
		return r, err
	}
	for round := -1; round < b.rounds; round++ {
		fmt.Fprintf(b.progress, "bench: %d files, round %d of %d\n", n, round+1, b.rounds)
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
		if round < 0 { // the first round warms caches and makes the base
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
