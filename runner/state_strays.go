package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Strays lists the runs that have ended and still have throwaway trees, because
// a box could not be confirmed as gone at the time.
func (s *State) Strays() ([]string, error) {
	entries, err := os.ReadDir(s.workDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for stray trees: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if validRunID(e.Name()) && !s.Alive(s.Owner(e.Name())) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}
