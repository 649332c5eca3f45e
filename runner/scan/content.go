package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/leak"
)

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
