package gitdiff

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

// ignoreFile holds a directory's ignore rules.
const ignoreFile = ".gitignore"

// Bounds of the rules that are obeyed. Rules beyond them are not, which shows more files, never fewer.
const (
	maxIgnoreBytes   = 256 << 10 // bytes of one file
	maxIgnoreLine    = 1 << 10   // bytes of one pattern
	maxIgnorePattern = 5_000     // patterns in force in one directory
)

// ignoreRules are the patterns in force in a directory: those of the base tree's .gitignore files from the root down to it.
// What a box writes into a .gitignore hides nothing of its own work.
type ignoreRules struct {
	patterns []gitignore.Pattern
}

func newIgnoreRules() *ignoreRules { return &ignoreRules{} }

// load adds the rules of a .gitignore blob found in dir; the receiver stays as it is.
func (r *ignoreRules) load(st storer.EncodedObjectStorer, id plumbing.Hash, dir string) (*ignoreRules, error) {
	blob, err := object.GetBlob(st, id)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	in, err := blob.Reader()
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxIgnoreBytes))
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	var domain []string
	if dir != "" {
		domain = strings.Split(dir, "/")
	}
	return r.parse(string(text), domain), nil
}

// parse adds the patterns of a text that hold below domain.
func (r *ignoreRules) parse(text string, domain []string) *ignoreRules {
	patterns := slices.Clip(r.patterns)
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" || line[0] == '#' || len(line) > maxIgnoreLine || strings.Trim(line, " ") == "" {
			continue
		}
		if len(patterns) == maxIgnorePattern {
			break
		}
		line = strings.ReplaceAll(line, "[!", "[^") // git takes both, path.Match only this
		patterns = append(patterns, gitignore.ParsePattern(line, domain))
	}
	return &ignoreRules{patterns: patterns}
}

// ignores reports whether the rules keep a path that the base does not have out of a commit.
func (r *ignoreRules) ignores(path string, dir bool) bool {
	if len(r.patterns) == 0 {
		return false
	}
	return gitignore.NewMatcher(r.patterns).Match(strings.Split(path, "/"), dir)
}
