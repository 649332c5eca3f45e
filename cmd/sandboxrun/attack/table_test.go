package attack

import (
	"strings"
	"testing"
)

func TestBatchesPutEachAttackIntoOneBox(t *testing.T) {
	t.Parallel()
	all := All()
	times := map[string]int{}
	for _, batch := range Batches(all) {
		for _, a := range batch {
			times[a.ID]++
			if len(batch) > 1 && (a.alone() || a.Group != batch[0].Group) {
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
	all := []Outcome{
		{ID: "L01", Group: Landing, Against: "runc", State: Held},
		{ID: "G01", Group: GitExec, Against: "runc", State: Held},
		{ID: "G02", Group: GitExec, Against: "runc", State: Breached},
		{ID: "G03", Group: GitExec, Against: "runc", State: Skipped, Title: "a thing", Detail: "no such tool"},
		{ID: "G01", Group: GitExec, Against: "naive", State: Breached},
	}
	got := Counts(all)
	want := []Count{
		{GitExec, "naive", 1, 0, 1, 0}, {GitExec, "runc", 2, 1, 1, 1}, {Landing, "runc", 1, 1, 0, 0},
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

// What an attack must find is found where it is.
func TestAScenesSecretIsFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Scene{
		"the result":           {Stdout: []byte("x " + Secret)},
		"the messages":         {Stderr: []byte(Secret)},
		"the patch":            {Patch: "+" + Secret},
		"the box's output":     {Output: Secret},
		"the landed file a/b":  {Landed: map[string]File{"a/b": {Content: Secret + "\n"}}},
		"the landed file link": {Landed: map[string]File{"link": {Mode: "120000", Content: Secret}}},
	} {
		if got := s.Leaked(); !strings.HasSuffix(got, name) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := (Scene{Stdout: []byte("nothing")}).Leaked(); got != "" {
		t.Errorf("nothing leaked, and the scene says %q", got)
	}
}
