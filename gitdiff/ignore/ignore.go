// Package ignore reads the ignore rules of a tree, within bounds.
package ignore

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// File holds a directory's ignore rules.
const File = ".gitignore"

// Bounds of the rules that are obeyed. Rules beyond them are not, which shows more files, never fewer.
const (
	MaxBytes    = 256 << 10 // bytes of one file
	MaxLine     = 1 << 10   // bytes of one pattern
	maxPatterns = 5_000     // patterns in force in one directory
)

// Rules are the patterns in force in a directory: those of the base tree's .gitignore files from the root down to it.
// What a box writes into a .gitignore hides nothing of its own work.
type Rules struct {
	patterns []gitignore.Pattern
}

// New returns rules that ignore nothing.
func New() *Rules { return &Rules{} }

// Load adds the rules of a .gitignore blob found in dir; the receiver stays as it is.
func (r *Rules) Load(st storer.EncodedObjectStorer, id plumbing.Hash, dir string) (*Rules, error) {
	blob, err := object.GetBlob(st, id)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	in, err := blob.Reader()
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, MaxBytes))
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	var domain []string
	if dir != "" {
		domain = strings.Split(dir, "/")
	}
	return r.Parse(string(text), domain), nil
}

// Parse adds the patterns of a text that hold below domain.
func (r *Rules) Parse(text string, domain []string) *Rules {
	patterns := slices.Clip(r.patterns)
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" || line[0] == '#' || len(line) > MaxLine || strings.Trim(line, " ") == "" {
			continue
		}
		if len(patterns) == maxPatterns {
			break
		}
		line = strings.ReplaceAll(line, "[!", "[^") // git takes both, path.Match only this
		patterns = append(patterns, gitignore.ParsePattern(line, domain))
	}
	return &Rules{patterns: patterns}
}

// Ignores reports whether the rules keep a path that the base does not have out of a commit.
func (r *Rules) Ignores(path string, dir bool) bool {
	if len(r.patterns) == 0 {
		return false
	}
	return gitignore.NewMatcher(r.patterns).Match(strings.Split(path, "/"), dir)
}
