// Package marked updates the part of a Markdown file that is generated from the results of tests, between two marks.
package marked

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Part is the text between two marks.
type Part struct{ Begin, End string }

// ErrStale says that a part is out of date.
var ErrStale = errors.New("out of date")

// Update makes text the part of the file at path. With check it leaves the file unchanged, and returns [ErrStale] when
// the part differs.
func (p Part) Update(path, text string, check bool) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	wanted, err := p.Put(string(old), text)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case wanted == string(old):
		return nil
	case check:
		return fmt.Errorf("%s: %w", path, ErrStale)
	}
	return os.WriteFile(path, []byte(wanted), 0o644)
}

// Put returns the document with text between the marks.
func (p Part) Put(document, text string) (string, error) {
	before, rest, ok := strings.Cut(document, p.Begin)
	if !ok {
		return "", fmt.Errorf("there is no line %q", p.Begin)
	}
	_, after, ok := strings.Cut(rest, p.End)
	if !ok {
		return "", fmt.Errorf("there is no line %q", p.End)
	}
	return before + p.Begin + "\n\n" + text + "\n" + p.End + after, nil
}
