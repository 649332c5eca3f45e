package body

import "strings"

// Header is a header whose values change what a provider does.
type Header struct {
	Name string
	rule *rule
}

// header accepts these values, any number of them, separated by commas.
func header(name string, words ...string) *Header { return &Header{name, texts(words...)} }

// with adds values that need a grant.
func (h *Header) with(g Grant, words ...string) *Header {
	return &Header{h.Name, h.rule.with(g, words...)}
}

// Read judges all values of the header. The error is a *RefusedError.
func (h *Header) Read(values []string, p *Policy) error {
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if could, ok := h.rule.takes(part, p); !ok {
			return &RefusedError{At: "header " + h.Name, Value: part, Why: "is not allowed", Grant: could}
		}
	}
	return nil
}
