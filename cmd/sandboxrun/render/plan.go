package render

import (
	"fmt"
	"io"

	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/reading"
)

// WritePlan writes a summary of a plan to w in one write: who works, what is measured, and what each sentence was read as. The document
// has all.
func WritePlan(w io.Writer, term Terminal, p *plan.Plan) error {
	o := &reportWriter{term: term}
	fmt.Fprintf(&o.b, "%s\n", Printable(p.Objective))
	o.wholef("%s at %s, lands as %s, at most %d s", p.RepoRoot, p.Base, p.Land, p.MaxRuntimeSeconds)
	if a := p.Agent; a != nil {
		o.wholef("agent %s %s, provider %s", a.Name, a.Variant, a.Provider)
	}
	list(o, "checks of the change", p.Checks(), 0, func(c document.Constraint) { o.rowf("", "%s", c.Text) })
	list(o, "measured in a fresh box", p.Verify, 0, func(v plan.VerifyCommand) { o.rowf("", "exit %-3d %s", v.ExpectExit, v.Command) })
	list(o, "sentences", p.Readings, 0, o.reading)
	list(o, "worth another look", p.Lint, 0, func(l plan.Lint) { o.rowf(ColorWarn, "%s %s", l.Path, l.Message) })
	if _, err := io.WriteString(w, o.b.String()); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

// reading writes one sentence, what it is measured by, and the words that nothing measures.
func (o *reportWriter) reading(r reading.Reading) {
	o.rowf(ColorBold, "%s %s", r.Pointer, r.Text)
	for _, c := range r.Checks {
		what := string(c.Object())
		if c.Command != "" {
			what = fmt.Sprintf("exit %d of: %s", c.Exit(), c.Command)
		}
		if c.Unmeasured != "" {
			o.rowf(ColorWarn, "  not measured: %s (%q)", what, c.Words)
			continue
		}
		o.rowf(ColorGood, "  measured: %s (%q)", what, c.Words)
	}
	if r.Rest != "" {
		o.rowf(ColorWarn, "  nothing measures: %s", r.Rest)
	}
	if r.Reason != "" {
		o.rowf("", "  because %s", r.Reason)
	}
}
