// Command attacktable writes the outcomes of the attacks as tables into a Markdown file, between two marks. With
// -check it only compares.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/scripts/marked"
)

// The marks around the tables.
const (
	begin = "<!-- attacks: made by scripts/attacktable from the results of the tests -->"
	end   = "<!-- end of the attacks -->"
)

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: attacktable [-check] ATTACKS.json FILE.md")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), flag.Arg(1), *check); err != nil {
		fmt.Fprintln(os.Stderr, "attacktable:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, outcomes, document string, check bool) error {
	text, err := os.ReadFile(outcomes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the tests did not run
		return err
	}
	var m matrix
	if err == nil {
		var all []attack.Outcome
		if err := json.Unmarshal(text, &all); err != nil {
			return fmt.Errorf("read %s: %w", outcomes, err)
		}
		m = newMatrix(all)
	}
	if !m.complete() {
		_, err := fmt.Fprintln(out, "not all attacks have outcomes: their tables are left alone")
		return err
	}
	err = marked.Part{Begin: begin, End: end}.Update(document, m.tables(), check)
	if errors.Is(err, marked.ErrStale) {
		return fmt.Errorf("the attacks: %w: run scripts/attack-table", err)
	}
	return err
}
