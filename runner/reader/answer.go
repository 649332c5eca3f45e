package reader

import (
	"encoding/json"
	"errors"
	"fmt"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/runner/scan"
)

// finding is a gitdiff.Finding as a message: paths are raw bytes.
type finding struct {
	Code   string `json:"code"`
	Path   []byte `json:"path"`
	Detail string `json:"detail,omitempty"`
	Grade  int    `json:"grade"`
	Class  string `json:"class,omitempty"`
}

func findingOf(f gitdiff.Finding) finding {
	return finding{Code: string(f.Code), Path: []byte(f.Path), Detail: f.Detail, Grade: int(f.Grade), Class: f.Class}
}

// taken is the finding that the message is, once it is checked.
func (f finding) taken() (gitdiff.Finding, error) {
	out := gitdiff.Finding{Code: gitdiff.Code(f.Code), Path: string(f.Path), Detail: f.Detail, Grade: gitdiff.Grade(f.Grade), Class: f.Class}
	return out, out.Check()
}

// captured is what a capture says besides its findings.
type captured struct {
	Tree    string `json:"tree"`
	Dropped int    `json:"dropped"`
	Ignored int    `json:"ignored"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
}

func capturedOf(s *capture.Snapshot) captured {
	return captured{Tree: s.Tree, Dropped: s.Dropped, Ignored: s.Ignored, Files: s.Files, Bytes: s.Bytes}
}

// inspected is what an inspection says besides its findings.
type inspected struct {
	Dropped int `json:"dropped"`
}

// searched is a scan.Leaks as a message.
type searched struct {
	Found      bool    `json:"found"`
	Known      bool    `json:"known"`
	Places     []place `json:"places,omitempty"`
	Further    int     `json:"further"`
	Incomplete string  `json:"incomplete,omitempty"`
}

type place struct {
	Path   string `json:"path"`
	What   string `json:"what"`
	Action string `json:"action"`
}

func searchedOf(l scan.Leaks) searched {
	s := searched{Found: l.Found, Known: l.Known, Further: l.Further}
	for _, p := range l.Places {
		s.Places = append(s.Places, place(p))
	}
	if l.Incomplete != nil {
		s.Incomplete = clip(l.Incomplete.Error())
	}
	return s
}

// Bounds of what a search reports.
const (
	maxPlaces    = 50
	maxPlaceText = 32 << 10 // bytes of a path, and of a description
)

// taken is the report that the message is, once it is checked. Whatever a search found counts as found.
func (s searched) taken() (scan.Leaks, error) {
	l := scan.Leaks{Found: s.Found, Known: s.Known, Further: s.Further}
	if len(s.Places) > maxPlaces || s.Further < 0 {
		return l, fmt.Errorf("%w: number of secrets", errProtocol)
	}
	for _, p := range s.Places {
		if len(p.Path) > maxPlaceText || len(p.What) > maxPlaceText || len(p.Action) > maxPlaceText {
			return l, fmt.Errorf("%w: place of a secret", errProtocol)
		}
		l.Places = append(l.Places, scan.Place(p))
	}
	if s.Incomplete != "" {
		l.Incomplete = errors.New(clip(s.Incomplete))
	}
	l.Found = l.Found || l.Known || len(l.Places) > 0 || l.Further > 0 || l.Incomplete != nil
	return l, nil
}

// patched says how large a patch is.
type patched struct {
	Bytes int64 `json:"bytes"`
}

// clip makes text of the other process fit to be shown.
func clip(text string) string { return gitname.Clip(text, 2000) }

// batches sends a list in messages of a bounded size. One element takes at most max bytes as JSON.
func batches[T any](list []T, maxBytes int, sendOne func([]T) error) error {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) {
			text, err := json.Marshal(list[n])
			if err != nil {
				return fmt.Errorf("encode answer: %w", err)
			}
			if size += len(text) + 1; n > 0 && size > maxBytes {
				break
			}
			n++
		}
		if err := sendOne(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}
