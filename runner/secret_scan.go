package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/leak"
)

// Bounds of the search for secrets in a change. What could not be looked at in
// time does not land.
const (
	scanBound   = 60 * time.Second
	scanPiece   = 1 << 20 // of what is not compared by line, in bytes
	maxLeaks    = 20      // places an issue each; further ones are counted
	maxTold     = 1000    // places that are told apart
	leakOverlap = 8 << 10 // of two pieces, in bytes
)

// Issue codes of the search.
const (
	CodeSecretInDiff   = "secret_in_diff"         // the change holds a secret, or what looks like one
	CodeScanIncomplete = "secret_scan_incomplete" // not all of the change was looked at
)

// errScanBound ends a search that takes too long.
var errScanBound = fmt.Errorf("not done within %s", scanBound)

// leaks is what the search for secrets in the change found.
type leaks struct {
	found   bool // the change must not land
	known   bool // it holds the value of a known secret, so nobody gets a patch
	count   int
	scanned bool
}

// scan searches what the change adds for secrets: the values this run knows, in
// every form a [redact.Redactor] finds, and what looks like a secret by the
// rules of package leak. Whatever is found keeps the change from landing. Only
// the user's configuration can allow something that a rule finds; nothing can
// allow a known value.
func (x *run) scan(ctx context.Context) error {
	if x.leaks.scanned {
		return nil
	}
	rules, err := leak.Default()
	if err != nil {
		return fmt.Errorf("search change for secrets: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, scanBound, errScanBound)
	defer cancel()
	s := &secretScan{x: x, rules: rules, told: map[string]bool{}}
	err = x.diff.EachAddition(ctx, func(a gitdiff.Addition) error { return s.addition(ctx, a) })
	x.leaks.scanned = true
	if n := x.leaks.count - maxLeaks; n > 0 {
		x.findings.add(flaw, Issue{Type: IssueConflict, Code: CodeSecretInDiff, Description: fmt.Sprintf("%d further places hold or look like secrets", n),
			SuggestedAction: "do not use the change before all of them are gone"})
	}
	if errors.Is(err, errScanBound) {
		x.leaks.found = true
		x.findings.add(flaw, Issue{Type: IssueConflict, Code: CodeScanIncomplete,
			Description:     "the change was not searched for secrets as a whole: " + err.Error(),
			SuggestedAction: "the change did not land; look through the patch yourself, or make the change smaller"})
		return nil
	}
	if err != nil {
		x.leaks.found = true
		return fmt.Errorf("search change for secrets: %w", err)
	}
	return nil
}

// secretScan is one search through a change.
type secretScan struct {
	x     *run
	rules *leak.Rules
	told  map[string]bool // by path and what; pieces of a file overlap
}

func (s *secretScan) addition(ctx context.Context, a gitdiff.Addition) error {
	if name, _ := s.x.secrets.Find([]byte(a.Name)); name != "" {
		s.tellKnown(a.Path, "its name", name)
	}
	if a.Type == gitdiff.Added {
		if err := s.name(ctx, a); err != nil {
			return err
		}
	}
	for _, run := range a.Runs {
		if err := s.text(ctx, a, run.First, run.Text); err != nil {
			return err
		}
		if name, at := s.x.secrets.Find([]byte(run.Text)); name != "" {
			s.tellKnown(a.Path, fmt.Sprintf("line %d", run.First+strings.Count(run.Text[:at], "\n")), name)
		}
	}
	if a.Open != nil {
		return s.whole(ctx, a)
	}
	return nil
}

// name holds a new path against the rules, as a path and as text.
func (s *secretScan) name(ctx context.Context, a gitdiff.Addition) error {
	rule, err := s.rules.Path(a.Path)
	if err != nil {
		return err
	}
	if rule != "" {
		s.tellRule(a.Path, "its name", leak.Named(rule, a.Path))
	}
	hits, err := s.rules.Scan(ctx, a.Path, a.Path)
	for _, h := range hits {
		s.tellRule(a.Path, "its name", h)
	}
	return err
}

// text holds text of a file against the rules. What the file held before the
// change is not the change's doing.
func (s *secretScan) text(ctx context.Context, a gitdiff.Addition, first int, text string) error {
	hits, err := s.rules.Scan(ctx, a.Path, text)
	for _, h := range hits {
		if !h.In(a.Old) {
			s.tellRule(a.Path, fmt.Sprintf("line %d", first+h.Line-1), h)
		}
	}
	return err
}

// whole searches content that is not compared by line: for known values all of
// it, for what rules find only a text that is too large for a comparison.
func (s *secretScan) whole(ctx context.Context, a gitdiff.Addition) (err error) {
	in, err := a.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	stream, line := s.x.secrets.Stream(), 1
	buf := make([]byte, 0, scanPiece)
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		kept := len(buf)
		n, rerr := io.ReadFull(in, buf[kept:cap(buf)])
		stream.Next(buf[kept : kept+n])
		buf = buf[:kept+n]
		if a.Note != "" {
			if err := s.text(ctx, a, line, string(buf)); err != nil {
				return err
			}
		}
		if rerr != nil {
			if !errors.Is(rerr, io.EOF) && !errors.Is(rerr, io.ErrUnexpectedEOF) {
				return rerr
			}
			break
		}
		step := len(buf) - leakOverlap
		line += strings.Count(string(buf[:step]), "\n")
		buf = buf[:copy(buf, buf[step:])]
	}
	stream.Rest()
	if name, at := stream.Found(); name != "" {
		s.tellKnown(a.Path, fmt.Sprintf("byte %d", at), name)
	}
	return nil
}

func (s *secretScan) tellKnown(path, where, name string) {
	s.x.leaks.known = true
	s.tell(path, fmt.Sprintf("%s holds the value of %s", where, name),
		"the change did not land and there is no patch of it; have the work leave the value out, and revoke it if it was ever given away")
}

func (s *secretScan) tellRule(path, where string, h leak.Hit) {
	fingerprint := h.Fingerprint()
	if slices.Contains(s.x.r.o.Config.Land.AllowSecrets, fingerprint) {
		return
	}
	s.tell(path, fmt.Sprintf("%s looks like a secret (rule %s, fingerprint %s)", where, h.Rule, fingerprint),
		"the change did not land; look at the patch, and if this is no secret, put its fingerprint into land.allow_secrets of the configuration")
}

func (s *secretScan) tell(path, what, action string) {
	s.x.leaks.found = true
	if key := path + "\x00" + what; s.told[key] {
		return
	} else if len(s.told) < maxTold {
		s.told[key] = true
	}
	if s.x.leaks.count++; s.x.leaks.count > maxLeaks {
		return
	}
	s.x.findings.add(flaw, Issue{Type: IssueConflict, Code: CodeSecretInDiff, Path: path, Description: what, SuggestedAction: action})
}
