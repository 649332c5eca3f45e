package render_test

import (
	"strings"
	"testing"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/reading"
)

func TestAPlanShowsWhatSentencesAreMeasuredBy(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Objective: "Add\x1b[31m it", RepoRoot: "/srv/app", Base: "HEAD", Land: document.LandBranch, MaxRuntimeSeconds: 600,
		Lint: []plan.Lint{{Path: "/instructions", Message: "does not say what is to be done"}}}
	for _, s := range []string{"Do not delete any files", "`make test` exits with 3", "Be nice\u202e", "Keep the log format and write clear comments"} {
		p.Readings = append(p.Readings, reading.Default().Read("/constraints/0", s))
	}
	var b strings.Builder
	if err := render.WritePlan(&b, render.Terminal{}, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`measured: {"kind":"no_deleted_files"} ("Do not delete any files")`, "exit 3 of: make test", "nothing measures: write clear comments",
		"because it holds characters that nobody sees", "/instructions does not say", "/srv/app at HEAD",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Errorf("control characters in %q", b.String())
	}
}
