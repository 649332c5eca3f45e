package agents

import (
	"slices"
	"testing"
)

func TestTheModelsOfATurnAreKnown(t *testing.T) {
	t.Parallel()
	info := Info{Models: []string{"big-1"}, Helpers: []string{"small-*"}, Aliases: map[string][]string{"big": {"big-*"}}}
	for named, want := range map[string][]string{
		"":          {"big-1", "small-*"},
		"big-2":     {"big-2", "small-*"},
		"big":       {"big", "big-*", "small-*"},
		"big[1m]":   {"big[1m]", "big", "big-*", "small-*"},
		"v/big-2":   {"v/big-2", "big-2", "small-*"},
		"v/w/big-2": {"v/w/big-2", "w/big-2", "small-*"},
	} {
		if got := info.ModelsAsked(named); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", named, got, want)
		}
	}
	if got := (Info{Helpers: []string{"small-*"}}).ModelsAsked(""); got != nil {
		t.Errorf("unknown: %q", got)
	}
}
