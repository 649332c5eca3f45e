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
	"strconv"
	"strings"
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
	rounds := flag.Int("rounds", 5, "counted rounds per size")
	flag.Parse()
	counts, err := parseSizes(*sizes)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sandboxrun-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder; its loss or stay decides nothing
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

type bench struct {
	bin, image, dir string
	rounds          int
	progress        io.Writer
}
