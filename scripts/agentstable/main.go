// Command agentstable turns the events of `go test -json` into the table of what
// works with which agent, between two marks of a Markdown file. With -check it
// only says whether the table is the one the tests give.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
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
	old, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	text, err := put(string(old), m.table())
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", document, err)
	case text == string(old):
		return nil
	case check:
		return fmt.Errorf("the table of agents in %s is not what the tests gave: run scripts/agents-table", document)
	}
	return os.WriteFile(document, []byte(text), 0o644)
}
