// Command agentstable turns the events of `go test -json` into the table of what
// works with which agent, between two marks of a Markdown file. With -check it
// only says whether the table is the one the tests give.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"sandboxrun/scripts/marked"
)

// The marks around the table.
const (
	begin = "<!-- agents table: made by scripts/agentstable from the results of the tests -->"
	end   = "<!-- end of the agents table -->"
)

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: agentstable [-check] TEST.json FILE.md")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), flag.Arg(1), *check); err != nil {
		fmt.Fprintln(os.Stderr, "agentstable:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, events, document string, check bool) error {
	in, err := os.Open(events)
	if err != nil {
		return err
	}
	defer in.Close()
	m, err := readMatrix(in)
	if err != nil {
		return fmt.Errorf("read %s: %w", events, err)
	}
	if !m.complete() {
		_, err := fmt.Fprintln(out, "the tests of the agents did not all run: the table is left alone")
		return err
	}
	err = marked.Part{Begin: begin, End: end}.Update(document, m.table(), check)
	if errors.Is(err, marked.ErrStale) {
		return fmt.Errorf("the table of agents: %w: run scripts/agents-table", err)
	}
	return err
}
