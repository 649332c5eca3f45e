package table

import (
	"strings"
	"testing"

	"sandboxrun/cmd/sandboxrun/attack"
)

func TestBatchesPutEachAttackIntoOneBox(t *testing.T) {
	t.Parallel()
	all := All()
	times := map[string]int{}
	for _, batch := range attack.Batches(all) {
		for _, a := range batch {
			times[a.ID]++
			if len(batch) > 1 && (a.Alone() || a.Group != batch[0].Group) {
				t.Errorf("%s shares a box", a.ID)
			}
		}
	}
	for _, a := range all {
		if times[a.ID] != 1 {
			t.Errorf("%s is in %d batches", a.ID, times[a.ID])
		}
	}
}

func TestCountsTellHeldBreachedAndSkippedApart(t *testing.T) {
	t.Parallel()
	all := []attack.Outcome{
		{ID: "L01", Group: attack.Landing, Against: "runc", State: attack.Held},
		{ID: "G01", Group: attack.GitExec, Against: "runc", State: attack.Held},
		{ID: "G02", Group: attack.GitExec, Against: "runc", State: attack.Breached},
		{ID: "G03", Group: attack.GitExec, Against: "runc", State: attack.Skipped, Title: "a thing", Detail: "no such tool"},
		{ID: "G01", Group: attack.GitExec, Against: "naive", State: attack.Breached},
	}
	got := Counts(all)
	want := []Count{
		{attack.GitExec, "naive", 1, 0, 1, 0}, {attack.GitExec, "runc", 2, 1, 1, 1}, {attack.Landing, "runc", 1, 1, 0, 0},
	}
	if len(got) != len(want) {
		t.Fatalf("counts %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("count %+v, want %+v", got[i], want[i])
		}
	}
	lines := Tally(all)
	if last := lines[len(lines)-1]; !strings.Contains(last, "G03 a thing: no such tool") {
		t.Errorf("the skip is told as %q", last)
	}
}
