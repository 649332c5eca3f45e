// Command agentstable writes the generated parts of a Markdown file on agents: the list of agents from agents.Info,
// and the table of what works with which from the events of `go test -json`. With -check it only compares.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
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
	err := updateRoster(flag.Arg(1), *check)
	if err == nil {
		err = run(os.Stdout, flag.Arg(0), flag.Arg(1), *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agentstable:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, events, document string, check bool) error {
	in, err := os.Open(events)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := fmt.Fprintln(out, "the tests have not run: the table of what works is left alone")
		return err
	}
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
