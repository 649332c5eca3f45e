package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// flat is the allowed growth of the runner from the second tenth to the last, and slack the allowed difference of
	// small counts.
	flat  = 1.1
	slack = 3
	// longEnough is how many tasks of the long-lived runner make its growth meaningful.
	longEnough = 50
)

// report prints the table, and counts a runner that grew.
func (s *soak) report(w io.Writer) {
	l := s.outcomes
	inProcessTasks := 0
	for _, p := range l.pages {
		inProcessTasks += p.inside
	}
	pages := l.pages[:len(l.pages)-1]
	if len(pages) < halves {
		return // nothing to compare
	}
	// The first part includes what is created once.
	second, last := pages[1].gauge, pages[len(pages)-1].gauge
	rss, files, goroutines := last.over(second)
	if len(pages) == tenths && inProcessTasks >= longEnough {
		if rss > flat {
			l.violate(unexpected, "the runner's memory grew by a factor of %.2f", rss)
		}
		if files > flat && last.files > second.files+slack || goroutines > flat && last.goroutines > second.goroutines+slack {
			l.violate(unexpected, "the runner's descriptors grew by a factor of %.2f, its goroutines by %.2f", files, goroutines)
		}
	}
	fmt.Fprintf(w, "%d tasks in %s, seed %d, %d at a time; %d of them by one long-lived runner, %d more by a second runner\n\n",
		len(s.tasks), s.took.Round(time.Second), s.seed, s.workers, inProcessTasks, l.beside)
	fmt.Fprintf(w, "| part | tasks | RSS MiB | heap MiB | descriptors | goroutines |")
	for v := range wrongs {
		fmt.Fprintf(w, " %s |", v)
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat("---:|", 6+int(wrongs)))
	for i, p := range pages {
		fmt.Fprintf(w, "| %d | %d | %.1f | %.1f | %d | %d |", i+1, p.done, float64(p.gauge.rss)/(1<<20), float64(p.gauge.heap)/(1<<20), p.gauge.files, p.gauge.goroutines)
		for v := range wrongs {
			fmt.Fprintf(w, " %d |", p.counts[v])
		}
		fmt.Fprintln(w)
	}
	if len(pages) == tenths {
		fmt.Fprintf(w, "\nlast tenth over second: RSS %.2f, descriptors %.2f, goroutines %.2f\n", rss, files, goroutines)
	}
	fmt.Fprintf(w, "\n| kind | tasks | struck | exit codes |\n|---|---:|---:|---|\n")
	for _, name := range slices.Sorted(maps.Keys(l.tallies)) {
		t := l.tallies[name]
		var exits []string
		for _, code := range slices.Sorted(maps.Keys(t.exits)) {
			exits = append(exits, fmt.Sprintf("%d: %d", code, t.exits[code]))
		}
		fmt.Fprintf(w, "| %s | %d | %d | %s |\n", name, t.tasks, t.struck, strings.Join(exits, ", "))
	}
	var disturbances []string
	for _, f := range slices.Sorted(maps.Keys(l.disturbances)) {
		disturbances = append(disturbances, fmt.Sprintf("%s %d", f, l.disturbances[f]))
	}
	fmt.Fprintf(w, "\nstruck: %s\nviolations: %d\n", strings.Join(disturbances, ", "), l.violations())
}
