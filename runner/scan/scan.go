// Package scan searches a change for secrets.
package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sandboxrun/gitdiff/change"
	"sandboxrun/internal/redact"
	"sandboxrun/runner/leak"
)

// Bounds of the search for secrets in a change. What could not be searched in
// time does not land.
const (
	bound     = 60 * time.Second
	piece     = 1 << 20 // of what is not compared by line, in bytes
	maxPlaces = 20      // places an issue each; further ones are counted
	maxSeen   = 1000    // places that are compared with each other
	overlap   = 8 << 10 // of two pieces, in bytes
)

// errBound ends a search that takes too long.
var errBound = fmt.Errorf("not done within %s", bound)

// Policy is what a search compares a change with.
type Policy struct {
	Secrets *redact.Redactor // known values
	Allowed []string         // fingerprints of what looks like a secret and is none
}

// Leaks is what a search found.
type Leaks struct {
	Found      bool    // the change must not land
	Known      bool    // it holds the value of a known secret, so nobody gets a patch
	Places     []Place // the first of them
	Further    int     // places that are not listed
	Incomplete error   // why not all was searched; nil where it was
}

// Place is where a change holds a secret, or what looks like one.
type Place struct {
	Path   string
	What   string // in words
	Action string // what a person can do
}

// Prepare reads the rules, which [Change] otherwise does when it is first called. That takes some milliseconds.
func Prepare() { _, _ = leak.Default() } // Change reports the error

// Change searches what a change adds for secrets: the values this run knows, in
// every form a [redact.Redactor] finds, and what looks like a secret by the
// rules of package leak. Whatever is found keeps the change from landing. Only
// the user's configuration can allow something that a rule finds; nothing can
// allow a known value. What was found before an error is returned with it.
func Change(ctx context.Context, diff *change.Diff, policy Policy) (Leaks, error) {
	rules, err := leak.Default()
	if err != nil {
		return Leaks{}, fmt.Errorf("search change for secrets: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errBound)
	defer cancel()
	s := &search{policy: policy, rules: rules, seen: map[string]bool{}}
	err = diff.EachAddition(ctx, func(a change.Addition) error { return s.addition(ctx, a) })
	if errors.Is(err, errBound) {
		s.leaks.Found, s.leaks.Incomplete = true, err
		return s.leaks, nil
	}
	if err != nil {
		s.leaks.Found = true
		return s.leaks, fmt.Errorf("search change for secrets: %w", err)
	}
	return s.leaks, nil
}

// search is one search through a change.
type search struct {
	leaks  Leaks
	policy Policy
	rules  *leak.Rules
	seen   map[string]bool // by path and description; pieces of a file overlap
}

func (s *search) reportKnown(path, where, name string) {
	s.leaks.Known = true
	s.reportPlace(path, fmt.Sprintf("%s holds the value of %s", where, name),
		"the change did not land and there is no patch of it; have the work leave the value out, and revoke it if it was ever given away")
}

func (s *search) reportRule(path, where string, h leak.Hit) {
	fingerprint := h.Fingerprint()
	if slices.Contains(s.policy.Allowed, fingerprint) {
		return
	}
	s.reportPlace(path, fmt.Sprintf("%s looks like a secret (rule %s, fingerprint %s)", where, h.Rule, fingerprint),
		"the change did not land; inspect the patch, and if this is no secret, put its fingerprint into land.allow_secrets of the configuration")
}

func (s *search) reportPlace(path, what, action string) {
	s.leaks.Found = true
	if key := path + "\x00" + what; s.seen[key] {
		return
	} else if len(s.seen) < maxSeen {
		s.seen[key] = true
	}
	if len(s.leaks.Places) == maxPlaces {
		s.leaks.Further++
		return
	}
	s.leaks.Places = append(s.leaks.Places, Place{Path: path, What: what, Action: action})
}
