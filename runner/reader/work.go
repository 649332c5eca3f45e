package reader

import (
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/internal/redact"
	"sandboxrun/runner/scan"
)

// Work is what a child is to read.
type Work struct {
	Objects *gitdiff.Objects // hold the trees, and take what is captured
	Source  *capture.Source  // the tree of a box; nil where it was captured already
	From    string           // hex id of the tree to compare with
	To      string           // hex id of the captured tree, where Source is nil
	MaxFile int64            // see [change.Diff.Inspect]
	Search  scan.Policy      // what the change is searched for
	Patch   string           // absolute path of the file for the patch, which must not exist
	// FreeBytes is what the disk of the patch must keep free.
	FreeBytes int64
}

// Limits bound one child. What it uses beyond them ends it.
type Limits struct {
	MemoryBytes int64         // writable memory that it has mapped
	CPU         time.Duration // processor time of all its threads together
	FileBytes   int64         // of the largest file it writes: an object, or the patch
	Files       int           // open files
}

// DefaultLimits suit the largest tree and the largest change that the budgets of packages capture and change let pass.
func DefaultLimits() Limits {
	return Limits{MemoryBytes: 1 << 30, CPU: 5 * time.Minute, FileBytes: 16 << 30, Files: 4096}
}

// order is Work as a message.
type order struct {
	Place     gitdiff.Place  `json:"place"`
	Capture   *capture.Order `json:"capture,omitempty"`
	From      string         `json:"from"`
	To        string         `json:"to,omitempty"`
	MaxFile   int64          `json:"max_file"`
	Secrets   []redact.Value `json:"secrets,omitempty"`
	Allowed   []string       `json:"allowed,omitempty"`
	Patch     string         `json:"patch"`
	FreeBytes int64          `json:"free_bytes"`
	Limits    Limits         `json:"limits"`
}

func (w *Work) order(l Limits) order {
	o := order{Place: w.Objects.Place(), From: w.From, To: w.To, MaxFile: w.MaxFile, Secrets: w.Search.Secrets.Values(), Allowed: w.Search.Allowed,
		Patch: w.Patch, FreeBytes: w.FreeBytes, Limits: l}
	if w.Source != nil {
		o.Capture = w.Source.Order()
	}
	return o
}
