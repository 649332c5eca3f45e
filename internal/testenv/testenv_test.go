package testenv

import (
	"slices"
	"testing"
)

func TestSampleSpreadsOverTheList(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	t.Setenv(sizeEnv, "")
	want := []int{0, 3, 6}
	if testing.Short() {
		want = []int{0}
	}
	if got := Sample(t, cases, 3); !slices.Equal(got, want) {
		t.Errorf("Sample = %v, want %v", got, want)
	}
	if got := Sample(t, cases, 20); !slices.Equal(got, cases) {
		t.Errorf("Sample of more than there are = %v, want all", got)
	}
	t.Setenv(sizeEnv, "all")
	if got := Sample(t, cases, 3); !slices.Equal(got, cases) {
		t.Errorf("Sample with %s=all = %v, want all", sizeEnv, got)
	}
}
