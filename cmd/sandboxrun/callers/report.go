package callers

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/report"
)

// maxReported bounds a document that is read for a report, in bytes.
const maxReported = 256 << 20

// Report is "runs report".
func (m Commands) Report() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write the result of a run as markdown, junit, sarif or html",
		ArgsUsage: "RUN",
		Description: `For CI services, within their limits on size. With --result the document comes from a
file that "execute --output" wrote, a result or an error document, and RUN is left out.
Text of a box is shown as text: it is neither markup nor a command to the service.

junit has the run, the acceptance criteria and the constraints as cases; what could
not be verified is skipped. sarif has the issues about files.

Examples:
   sandboxrun runs report RUN
   sandboxrun runs report --format junit RUN > junit.xml
   sandboxrun runs report --format sarif RUN > result.sarif
   sandboxrun runs report --format html --max-bytes 100000 RUN > report.html`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "markdown", Usage: "`FORM`: " + strings.Join(formats(), ", ")},
			&cli.StringFlag{Name: "result", Usage: "read the document from `FILE`"},
			&cli.IntFlag{Name: "max-bytes", Usage: "at most `N` bytes; 0 for what services take"},
		},
		Action: m.report,
	}
}

func formats() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func (m Commands) report(c *cli.Context) error {
	form, ok := report.Lookup(c.String("format"))
	limit, file := c.Int("max-bytes"), c.String("result")
	switch {
	case !ok:
		return &document.InputError{Message: "--format must be one of " + strings.Join(formats(), ", "), Hint: document.Nearest(c.String("format"), formats())}
	case limit != 0 && limit < report.MinLimit:
		return &document.InputError{Message: fmt.Sprintf("--max-bytes must be at least %d", report.MinLimit)}
	case (file == "") == (c.NArg() == 0) || c.NArg() > 1:
		return &document.InputError{Message: "one argument is needed, RUN, or --result FILE instead", Hint: `see "sandboxrun runs report --help"`}
	}
	doc, err := m.reported(file, c.Args().First())
	if err != nil {
		return err
	}
	text, err := report.Write(form, doc, limit)
	if err != nil {
		return err
	}
	_, err = m.Out.Write(text)
	return err
}

// reported is the document to show.
func (m Commands) reported(file, run string) ([]byte, error) {
	if file != "" {
		doc, err := document.ReadSmall(file, maxReported)
		if err != nil {
			return nil, &document.InputError{Message: fmt.Sprintf("--result: %v", err)}
		}
		return doc, nil
	}
	st, err := m.State()
	if err != nil {
		return nil, err
	}
	d, err := st.FindNamed(run)
	if err != nil {
		return nil, err
	}
	doc, err := d.Result()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &document.InputError{Message: fmt.Sprintf("run %s has no result yet", d.ID()), Hint: `"sandboxrun runs wait" waits for it`}
	}
	return doc, err
}
