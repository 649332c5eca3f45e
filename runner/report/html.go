package report

import (
	"bytes"
	_ "embed" // for the template
	"html/template"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"exit": exit}).Parse(pageText))

// page is one file without scripts, and without anything from elsewhere.
func page(v *view) ([]byte, error) {
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, struct {
		*view

		Heading string
		Parts   []htmlPart
	}{v, v.heading(), v.htmlParts()})
	return b.Bytes(), err
}

type htmlPart struct {
	Title string
	List  []htmlVerdict
}

type htmlVerdict struct{ Mark, Text, Evidence string }

func (v *view) htmlParts() []htmlPart {
	var all []htmlPart
	for _, p := range v.judged() {
		part := htmlPart{Title: p.title}
		for _, j := range p.list {
			part.List = append(part.List, htmlVerdict{mark(j.Verdict), j.Text, j.Evidence})
		}
		all = append(all, part)
	}
	return all
}
