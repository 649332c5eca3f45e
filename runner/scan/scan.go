// Package scan searches a change for secrets.
package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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

func (s *search) addition(ctx context.Context, a change.Addition) error {
	if name, _ := s.policy.Secrets.Find([]byte(a.Name)); name != "" {
		s.reportKnown(a.Path, "its name", name)
	}
	if a.Type == change.Added {
		if err := s.name(ctx, a); err != nil {
			return err
		}
	}
	for _, run := range a.Runs {
		if err := s.text(ctx, a, run.First, run.Text); err != nil {
			return err
		}
		plain := withoutNUL(run.Text)
		if name, at := s.policy.Secrets.Find([]byte(plain)); name != "" {
			s.reportKnown(a.Path, fmt.Sprintf("line %d", run.First+strings.Count(plain[:at], "\n")), name)
		}
	}
	if a.Open != nil {
		return s.whole(ctx, a)
	}
	return nil
}

// name compares a new path with the rules, as a path and as text.
func (s *search) name(ctx context.Context, a change.Addition) error {
	rule, err := s.rules.Path(a.Path)
	if err != nil {
		return err
	}
	if rule != "" {
		s.reportRule(a.Path, "its name", leak.Named(rule, a.Path))
	}
	hits, err := s.rules.Scan(ctx, a.Path, a.Path)
	for _, h := range hits {
		s.reportRule(a.Path, "its name", h)
	}
	return err
}

// text compares text of a file with the rules. What the file held before the
// change is no part of the change.
func (s *search) text(ctx context.Context, a change.Addition, first int, text string) error {
	if plain := withoutNUL(text); len(plain) < len(text) {
		if err := s.text(ctx, a, first, plain); err != nil {
			return err
		}
	}
	hits, err := s.rules.Scan(ctx, a.Path, text)
	for _, h := range hits {
		if !h.In(a.Old) {
			s.reportRule(a.Path, fmt.Sprintf("line %d", first+h.Line-1), h)
		}
	}
	return err
}

// withoutNUL is a text without its NUL bytes. They hide a value from a search
// and not from most programs that read it; in UTF-16 every other byte of an
// ordinary value is one.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "") }

// minRun is the shortest run of printable characters in which a rule could find
// something, in bytes.
const minRun = 8

// printableRuns is what of binary content could be written by a person: its runs
// of printable ASCII, with its NUL bytes and line ends, and a tab for everything
// between. Rules search it many times faster than the content itself.
func printableRuns(content []byte) string {
	out := make([]byte, 0, len(content)/8)
	begin, printable := len(out), 0
	end := func() {
		if printable < minRun {
			out = out[:begin]
		}
		begin, printable = len(out), 0
	}
	for _, b := range content {
		switch {
		case b >= ' ' && b < 0x7f || b == '\t':
			printable++
			out = append(out, b)
		case b == 0:
			if printable > 0 {
				out = append(out, b)
			}
		default:
			end()
			if b != '\n' {
				b = '\t'
			}
			if n := len(out); b == '\n' || n > 0 && out[n-1] != '\t' {
				out = append(out, b)
				begin = len(out)
			}
		}
	}
	end()
	return string(out)
}

// whole searches content that is not compared by line, because git takes it for
// binary or because it is too large.
func (s *search) whole(ctx context.Context, a change.Addition) (err error) {
	in, err := a.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	stream, line, where := s.policy.Secrets.Stream(), 1, "byte %d"
	buf := make([]byte, 0, piece)
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		kept := len(buf)
		n, rerr := io.ReadFull(in, buf[kept:cap(buf)])
		fresh := buf[kept : kept+n]
		if bytes.IndexByte(fresh, 0) >= 0 {
			fresh, where = bytes.ReplaceAll(fresh, []byte{0}, nil), "byte %d, NUL bytes not counted,"
		}
		stream.Next(fresh) // no value holds a NUL byte, so nothing is lost with them
		buf = buf[:kept+n]
		text := string(buf)
		if a.Note == "" { // git takes it for binary
			text = printableRuns(buf)
		}
		if err := s.text(ctx, a, line, text); err != nil {
			return err
		}
		if rerr != nil {
			if !errors.Is(rerr, io.EOF) && !errors.Is(rerr, io.ErrUnexpectedEOF) {
				return rerr
			}
			break
		}
		step := len(buf) - overlap
		line += strings.Count(string(buf[:step]), "\n")
		buf = buf[:copy(buf, buf[step:])]
	}
	stream.Rest()
	if name, at := stream.Found(); name != "" {
		s.reportKnown(a.Path, fmt.Sprintf(where, at), name)
	}
	return nil
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
