// Package body reads the requests of a box to a model provider and refuses what would reach beyond one answer of one
// model: what the provider fetches, runs, stores or looks up for the box, and models nobody planned.
//
// A [Form] lists, for one call of one API, the keys that a request may have, the words that may be in them, and what a
// task must have been granted for the others. What a form does not list is refused: a provider adds keys faster than
// anyone could list the dangerous ones. A request is JSON in UTF-8 without duplicate keys, within bounds of size, depth
// and count, and it is forwarded as exactly the bytes that were judged, so that no other reader finds more in them.
//
// Values are judged by their place and not by the variant of the schema they belong to: all content blocks share one
// rule. The words of "type" and the keys that name sources decide; a key that is dangerous in one variant needs its
// grant in all.
package body

import (
	"slices"
	"strings"
)

// Grant is something a provider does for a request beyond answering it, which a task may ask for and the user's
// configuration may permit.
type Grant string

// The grants there are.
const (
	WebSearch       Grant = "web_search"       // the provider searches the web and fetches pages
	RemoteMCP       Grant = "remote_mcp"       // the provider calls MCP servers and connectors
	URLSources      Grant = "url_sources"      // the provider fetches images and documents by their URL
	CodeExecution   Grant = "code_execution"   // the provider runs code in a container of its own
	Files           Grant = "files"            // files and vector stores of the organisation
	Stored          Grant = "stored"           // calls and conversations that the provider keeps, and background calls
	ImageGeneration Grant = "image_generation" // the provider calls an image model
	ServiceTier     Grant = "service_tier"     // faster tiers and other places of processing at another price
	AnyModel        Grant = "any_model"        // models beside the planned ones
)

// Grants returns every grant.
func Grants() []Grant {
	return []Grant{WebSearch, RemoteMCP, URLSources, CodeExecution, Files, Stored, ImageGeneration, ServiceTier, AnyModel}
}

// Policy is what the requests of one run may ask for.
type Policy struct {
	Grants []Grant
	// Models are the names of the models that may be asked; a * matches anything. Empty for any model: nobody knows
	// which one the agent takes.
	Models []string
}

// Has reports whether the run was granted g.
func (p *Policy) Has(g Grant) bool { return slices.Contains(p.Grants, g) }

// Model returns a *RefusedError for a model that the run may not ask.
func (p *Policy) Model(name string) error {
	if len(p.Models) == 0 || p.Has(AnyModel) {
		return nil
	}
	for _, m := range p.Models {
		if matchModel(m, strings.TrimPrefix(name, "models/")) { // as the Gemini API names them in a body
			return nil
		}
	}
	return &RefusedError{At: "/model", Value: name, Grant: AnyModel, Why: notPlanned}
}

const notPlanned = "is not a model of this run"

// matchModel compares a name with a pattern in which every * stands for any text.
func matchModel(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// RefusedError says why a request is not forwarded. Its texts may hold what the box wrote.
type RefusedError struct {
	At    string // JSON pointer into the body, or the name of a header
	Value string // the refused string, "" where the key itself is refused
	Why   string // what is wrong with it
	Grant Grant  // what a task would have to be granted, "" where nothing helps
}

// maxShown bounds each text of a refusal, in bytes.
const maxShown = 200

func (r *RefusedError) Error() string {
	at := r.At
	if at == "" {
		at = "the body"
	}
	s := "request refused: " + clip(at)
	if r.Value != "" {
		s += " " + quote(r.Value)
	}
	s += " " + r.Why
	if r.Grant != "" {
		s += " (needs the grant " + string(r.Grant) + ")"
	}
	return s
}
