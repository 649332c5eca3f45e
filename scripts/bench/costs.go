package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// furtherBoxes is how many commands the larger of two verifications has beyond the first: each has a box of its own.
const furtherBoxes = 3

// cost is one part of a run beside what does the same work, or a part of it, without the protection.
type cost struct {
	what, beside string
	took, other  time.Duration
}

// costs measures parts of a run, each next to its comparison within this run.
func (b *bench) costs(w io.Writer, files int) error {
	boxes, err := b.boxes(files)
	if err != nil {
		return fmt.Errorf("boxes: %w", err)
	}
	fmt.Fprintln(b.progress, "bench: reading child and request bodies")
	reading, err := goBench("./runner/reader", "BenchmarkReading/child", "BenchmarkReading/here")
	if err != nil {
		return err
	}
	bodies, err := goBench("./sandbox/egress/body", "BenchmarkRead", "BenchmarkDecode")
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\nParts of a run, each next to its comparison:\n\n| part | takes | comparison | takes | ratio |\n|---|---|---|---|---|\n")
	for _, c := range append(boxes,
		cost{"reading a small change in a process of its own, which also starts, searches for secrets and writes the patch", "capture and comparison alone, in the runner's process", reading[0], reading[1]},
		cost{"reading a model request of 1 MiB", "decoding it with `encoding/json`", bodies[0], bodies[1]}) {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.2f× |\n", c.what, ms(c.took), c.beside, ms(c.other), c.took.Seconds()/c.other.Seconds())
	}
	return nil
}

// boxes times runs whose verification has no command, one, and several, in turn.
func (b *bench) boxes(files int) ([]cost, error) {
	repo, state := filepath.Join(b.dir, fmt.Sprintf("repo-%d", files)), filepath.Join(b.dir, fmt.Sprintf("state-%d", files))
	commands := []int{0, 1, 1 + furtherBoxes}
	walls := make([][]sample, len(commands))
	for round := range b.rounds {
		fmt.Fprintf(b.progress, "bench: boxes of a verification, round %d of %d\n", round+1, b.rounds)
		for i, n := range commands {
			task, err := b.writeTask(repo, files, n)
			if err != nil {
				return nil, err
			}
			s, doc, err := timed(b.execute(state, task))
			if err != nil {
				return nil, err
			}
			if _, err := timing(doc); err != nil {
				return nil, err
			}
			walls[i] = append(walls[i], s)
		}
	}
	none, one, all := median(walls[0]), median(walls[1]), median(walls[2])
	first, further := max(one-none, time.Microsecond), (all-one)/furtherBoxes
	return []cost{
		{"the first command of a verification, in a box of its own", "a run without verification", first, none},
		{"a further command of a verification, in a box of its own", "the first one", further, first},
	}, nil
}

// goBench runs two benchmarks of a package and returns the times of one operation of each.
func goBench(pkg string, names ...string) ([]time.Duration, error) {
	top := make([]string, len(names))
	for i, n := range names {
		top[i], _, _ = strings.Cut(n, "/")
	}
	pattern := "^(" + strings.Join(slices.Compact(top), "|") + ")$"
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1s", pkg).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go test -bench %s %s: %w: %s", pattern, pkg, err, out)
	}
	took := make([]time.Duration, len(names))
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for i, n := range names {
			if len(words) > 3 && words[3] == "ns/op" && (words[0] == n || strings.HasPrefix(words[0], n+"-")) {
				ns, err := strconv.ParseFloat(words[2], 64)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", n, err)
				}
				took[i] = time.Duration(ns)
			}
		}
	}
	if slices.Contains(took, 0) {
		return nil, fmt.Errorf("go test -bench %s %s printed no time of one of %v: %s", pattern, pkg, names, out)
	}
	return took, nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
