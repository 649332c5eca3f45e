package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

func TestTheSeedDecidesWhatHappens(t *testing.T) {
	t.Parallel()
	disturbances := map[disturbance]int{}
	for i := range 2000 {
		a := assign(7, i, 3, true)
		if again := assign(7, i, 3, true); !reflect.DeepEqual(a, again) {
			t.Fatalf("%+v, then %+v", a, again)
		}
		if a.inside && (a.disturbance == killed || a.kind.agent) {
			t.Errorf("%+v cannot be done inside", a)
		}
		disturbances[a.disturbance]++
	}
	struck := 2000 - disturbances[leftAlone]
	if boxes := disturbances[boxKilled] + disturbances[boxRemoved]; struck < 600 || struck > 800 || boxes < 60 || boxes > 140 || disturbances[killed] < 100 {
		t.Errorf("disturbances %v", disturbances)
	}
	if reflect.DeepEqual(assign(7, 1, 3, true), assign(8, 1, 3, true)) && reflect.DeepEqual(assign(7, 2, 3, true), assign(8, 2, 3, true)) {
		t.Error("another seed decides the same")
	}
}

func TestUnfitEndsAreNoticed(t *testing.T) {
	t.Parallel()
	edits := kinds[0]
	landed := &document.Result{RunID: "r", Git: document.GitResult{Branch: "b"}}
	for name, c := range map[string]struct {
		disturbance disturbance
		e           ending
		fits        bool
	}{
		"well":                     {leftAlone, ending{exit: 0, result: landed}, true},
		"failed for no reason":     {leftAlone, ending{exit: 4, result: landed}, false},
		"no result":                {leftAlone, ending{exit: 0}, false},
		"nothing landed":           {leftAlone, ending{exit: 0, result: &document.Result{RunID: "r"}}, false},
		"stopped":                  {stopped, ending{exit: 130, struck: true, result: landed}, true},
		"stopped too late":         {stopped, ending{exit: 0, struck: true, result: landed}, true},
		"stopped as if terminated": {stopped, ending{exit: 143, struck: true, result: landed}, false},
		"stopped as an error":      {terminated, ending{exit: 1, struck: true}, false},
		"died before the handler":  {terminated, ending{exit: -1, struck: true}, true},
		"killed":                   {killed, ending{exit: -1, struck: true}, true},
		"box gone":                 {boxKilled, ending{exit: 4, struck: true, box: true, result: landed}, true},
		"box gone and a success":   {boxRemoved, ending{exit: 0, struck: true, box: true, result: landed}, false},
		"box gone, no result":      {boxRemoved, ending{exit: 1, struck: true, box: true}, false},
	} {
		if why := misfit(assignment{kind: edits, disturbance: c.disturbance}, c.e); (why == "") != c.fits {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func TestLostAndDoubledTasksAreCounted(t *testing.T) {
	t.Parallel()
	l := newOutcomes()
	l.endings = map[string]known{
		"once": {run: "a", ran: true}, "twice": {run: "b", ran: true}, "never": {ran: true}, "killed early": {},
		"other run": {run: "c", ran: true}, "elsewhere": {ran: true, beside: true},
	}
	for range 2 { // the second count finds nothing new
		l.count(false, map[string][]string{"once": {"a"}, "twice": {"b", "x"}, "other run": {"d"}})
	}
	l.compare(&document.Result{TaskID: "once", RunID: "a", Status: document.StatusSuccess})
	l.compare(&document.Result{TaskID: "nobody's", RunID: "z"})
	if got := l.pages[0].counts; got != [wrongs]int{lost: 2, doubled: 2, corrupted: 1} {
		t.Errorf("counted %v: %v", got, l.told)
	}
}

func TestLeftoversInAStateDirectoryAreCounted(t *testing.T) {
	t.Parallel()
	at, err := newSite("/nowhere", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string) {
		path := filepath.Join(at.state, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, fine := range []string{"id", "runs/r/result.json", "runs/r/logs/.hidden", "runs/r/lock", "bases/bases/b/tree/.gitignore", "bases/stores/s.git/config"} {
		put(fine)
	}
	s := &soak{outcomes: newOutcomes()}
	if err := s.remains(at); err != nil || s.outcomes.violations() != 0 {
		t.Fatalf("%v, %v", err, s.outcomes.told)
	}
	bad := []string{"id.beef", "runs/.new-x/lock", "runs/r/.result.json123", "active/r", "work/r/x", "bases/stores/s.git/objects/tmp_obj_1", "etc/.new-1"}
	for _, name := range bad {
		put(name)
	}
	if err := s.remains(at); err != nil {
		t.Fatal(err)
	}
	if n := s.outcomes.violations(); n < len(bad) {
		t.Errorf("%d of %d: %v", n, len(bad), s.outcomes.told)
	}
	for text := range s.outcomes.told {
		if !strings.HasPrefix(text, "leaked: ") {
			t.Error(text)
		}
	}
}

func TestDamageToARepositoryIsCounted(t *testing.T) {
	t.Parallel()
	testenv.NeedsTime(t, "damages many repositories")
	repos, err := makeRepos(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repos[0]
	head, err := git(r.dir, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	head = strings.TrimSpace(head)
	for _, name := range []string{"named", "unnamed"} {
		if _, err := git(r.dir, "update-ref", ours+name, head); err != nil {
			t.Fatal(err)
		}
	}
	s := &soak{outcomes: newOutcomes()}
	named := map[string]string{r.dir + " sandboxrun/named": head, r.dir + " sandboxrun/gone": head}
	if err := s.damage(r, named); err != nil {
		t.Fatal(err)
	}
	if got := s.outcomes.pages[0].counts; got != [wrongs]int{lost: 2} {
		t.Errorf("counted %v: %v", got, s.outcomes.told)
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "refs", "heads", "x.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := git(r.dir, "branch", "-D", "feature"); err != nil {
		t.Fatal(err)
	}
	blob, err := git(r.dir, "rev-parse", "HEAD:README.md")
	if err != nil {
		t.Fatal(err)
	}
	blob = strings.TrimSpace(blob)
	if err := os.Remove(filepath.Join(r.dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if err := s.damage(r, named); err != nil {
		t.Fatal(err)
	}
	if got := s.outcomes.pages[0].counts; got != [wrongs]int{lost: 2, leaked: 1, corrupted: 2} {
		t.Errorf("counted %v: %v", got, s.outcomes.told)
	}
}
