// Package report shows a result, or the error document in place of one, in the forms that CI services take, within their
// limits. Text of a box can neither be markup nor a command to the service that prints it.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
)

// Format is a form of a report.
type Format struct {
	Name  string
	Limit int // bytes that services take at least
	write func(v *view) ([]byte, error)
}

// Formats lists the forms.
func Formats() []Format {
	return []Format{
		{"markdown", 900 << 10, markdown}, // GitHub: 1 MiB of summary a step
		{"junit", 5 << 20, junit},
		{"sarif", 5 << 20, sarif}, // GitHub: 10 MB compressed, 25 000 results a run
		{"html", 5 << 20, page},
	}
}

// Lookup returns the form of a name.
func Lookup(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// view is a document prepared for a report: every list and text is bounded, every text harmless.
type view struct {
	document.Result

	Failure *document.ErrorBody // of an error document
	Cut     bool                // something was left out
	bound   bound
}

// bound is how much of a document is shown.
type bound struct{ items, text int }

// bounds are tried in this order until a report fits.
var bounds = []bound{{2000, 16 << 10}, {500, 4 << 10}, {100, 1 << 10}, {20, 300}, {3, 100}}

// MinLimit is the smallest limit that every report fits into, in bytes.
const MinLimit = 16 << 10

// Write reports a result or an error document in at most limit bytes; 0 for the limit of the form.
func Write(f Format, doc []byte, limit int) ([]byte, error) {
	if limit == 0 {
		limit = f.Limit
	}
	whole, err := read(doc)
	if err != nil {
		return nil, err
	}
	for _, b := range bounds {
		v := *whole // its lists are copied where they are cleaned
		v.bound = b
		v.clean()
		text, err := f.write(&v)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", f.Name, err)
		}
		if len(text) <= limit {
			return text, nil
		}
	}
	return nil, &document.InputError{Message: fmt.Sprintf("the report does not fit into %d bytes", limit), Hint: fmt.Sprintf("allow at least %d", MinLimit)}
}

func read(doc []byte) (*view, error) {
	var failure struct {
		Error *document.ErrorBody `json:"error"`
	}
	v := &view{}
	if err := errors.Join(json.Unmarshal(doc, &failure), json.Unmarshal(doc, &v.Result)); err != nil {
		return nil, &document.InputError{Message: fmt.Sprintf("the document cannot be read: %v", err)}
	}
	if v.Failure = failure.Error; v.Failure == nil && (v.RunID == "" || v.Status == "") {
		return nil, &document.InputError{Message: "the document is neither a result nor an error document"}
	}
	return v, nil
}

// clean bounds the view and makes it harmless.
func (v *view) clean() {
	if v.Failure != nil {
		copied := *v.Failure
		f := &copied
		v.Failure = f
		f.Message, f.Hint = v.text(f.Message), v.text(f.Hint)
		f.Details = first(v, f.Details)
		for i := range f.Details {
			d := &f.Details[i]
			d.Path, d.Message = v.text(d.Path), v.text(d.Message)
		}
	}
	for _, s := range []*string{&v.TaskID, &v.RunID, &v.Summary, &v.NotesForHuman, &v.Tests.Details, &v.Git.Branch, &v.Git.BaseCommit, &v.Git.Commit} {
		*s = v.text(*s)
	}
	v.FilesChanged, v.CommandsRun, v.Issues = first(v, v.FilesChanged), first(v, v.CommandsRun), first(v, v.Issues)
	v.Acceptance, v.Constraints = first(v, v.Acceptance), first(v, v.Constraints)
	for i := range v.FilesChanged {
		f := &v.FilesChanged[i]
		f.Path, f.OldPath, f.ChangeType = v.text(f.Path), v.text(f.OldPath), v.text(f.ChangeType)
	}
	for i := range v.CommandsRun {
		c := &v.CommandsRun[i]
		c.Command, c.StdoutExcerpt, c.StderrExcerpt = v.text(c.Command), v.text(c.StdoutExcerpt), v.text(c.StderrExcerpt)
		c.Source, c.Phase = v.text(c.Source), v.text(c.Phase)
	}
	for i := range v.Issues {
		s := &v.Issues[i]
		s.Code, s.Description, s.SuggestedAction, s.Path = v.text(s.Code), v.text(s.Description), v.text(s.SuggestedAction), v.text(s.Path)
	}
	for _, list := range [][]document.Judged{v.Acceptance, v.Constraints} {
		for i := range list {
			j := &list[i]
			j.Text, j.Check, j.Verdict, j.Evidence = v.text(j.Text), v.text(j.Check), v.text(j.Verdict), v.text(j.Evidence)
		}
	}
}

func (v *view) text(s string) string {
	short := excerpt.HeadTail(s, v.bound.text)
	v.Cut = v.Cut || len(s) > v.bound.text
	return Harmless(short)
}

func first[T any](v *view, list []T) []T {
	v.Cut = v.Cut || len(list) > v.bound.items
	return slices.Clone(list[:min(len(list), v.bound.items)])
}

// heading is the verdict in a few words.
func (v *view) heading() string {
	if v.Failure != nil {
		return "not run: " + string(v.Failure.Type)
	}
	return string(v.Status)
}
