package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/cmd/sandboxrun/attack/naive"
	"sandboxrun/cmd/sandboxrun/attack/table"
	"sandboxrun/cmd/sandboxrun/selftest"
	"sandboxrun/internal/testenv"
)

// attackBound is how long one group of attacks may take, on a busy machine.
const attackBound = 150 * time.Second

// outcomes collects how attacks ended.
type outcomes struct {
	mu  sync.Mutex
	all []attack.Outcome
}

func (o *outcomes) add(more ...attack.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, more...)
}

func TestTableOfAttacksIsValid(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`^[A-Z][0-9]{2}[a-z]?$`)
	seen := map[string]bool{}
	for _, a := range table.All() {
		switch {
		case !id.MatchString(a.ID) || seen[a.ID]:
			t.Errorf("%s %q: not an id, or used twice", a.ID, a.Title)
		case a.Group == "" || a.Title == "" || a.Breached == nil || strings.TrimSpace(a.Script) == "":
			t.Errorf("%s: group, title, script or judgement is missing", a.ID)
		}
		seen[a.ID] = true
	}
	if n := len(selftest.Attacks()); n == 0 || n > 20 {
		t.Errorf("%d attacks are part of the self-test", n)
	}
}

// TestAttacks makes the attacks of the table under every runtime that is there,
// where none may get through, and against the naive counterpart, where each must:
// an attack that never succeeds proves nothing. Unless every case is wanted, a
// part of each group is made.
func TestAttacks(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, agentImage)
	var told outcomes
	t.Cleanup(func() { tell(t, told.all) })
	for _, runtime := range []string{"runc", "runsc"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			testenv.Runtime(t, runtime)
			l := lab(t, runtime)
			batches := attack.Batches(table.All())
			part := 3
			if runtime != "runc" {
				part = 6
			}
			for _, batch := range sampledAttacks(t, batches, part, func(b []attack.Attack) attack.Group { return b[0].Group }) {
				if runtime != "runc" { // a third of those that share a box and are in the sample under runc
					batch = testenv.Sample(t, batch, (len(batch)+2)/3)
				}
				name := batch[0].ID
				if len(batch) > 1 {
					name = string(batch[0].Group)
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					all, err := l.Run(t.Context(), batch)
					if err != nil {
						t.Fatal(err)
					}
					told.add(all...)
					for _, o := range all {
						if o.State == attack.Breached {
							t.Errorf("%s %s: %s", o.ID, o.Title, o.Detail)
						}
					}
				})
			}
		})
	}
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		l := lab(t, "")
		for _, a := range sampledAttacks(t, table.All(), 8, func(a attack.Attack) attack.Group { return a.Group }) {
			t.Run(a.ID, func(t *testing.T) {
				t.Parallel()
				o, err := naive.Run(t.Context(), l, a)
				if err != nil {
					t.Fatal(err)
				}
				told.add(o)
				t.Log(o.Detail)
				switch o.State {
				case attack.Held:
					t.Errorf("%s %s: the naive counterpart held, so the attack proves nothing", o.ID, o.Title)
				case attack.Skipped:
					t.Skip(o.Detail)
				}
			})
		}
	})
}

// sampledAttacks returns one of so many of each group, and at least one, where not every case is wanted.
func sampledAttacks[T any](t *testing.T, all []T, part int, group func(T) attack.Group) []T {
	t.Helper()
	byGroup := map[attack.Group][]T{}
	for _, a := range all {
		byGroup[group(a)] = append(byGroup[group(a)], a)
	}
	var picked []T
	for _, g := range slices.Sorted(maps.Keys(byGroup)) {
		picked = append(picked, testenv.Sample(t, byGroup[g], max(1, len(byGroup[g])/part))...)
	}
	return picked
}

func lab(t *testing.T, runtime string) *attack.Lab {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH")}
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		env = append(env, "DOCKER_HOST="+host)
	}
	return &attack.Lab{Program: program, Dir: t.TempDir(), Image: agentImage, Runtime: runtime, Env: env, Bound: attackBound}
}

// tell prints the counts by group and keeps the outcomes for the table of
// SECURITY.md where the environment names a file for them.
func tell(t *testing.T, all []attack.Outcome) {
	t.Helper()
	for _, line := range table.Tally(all) {
		t.Log(line)
	}
	name := os.Getenv("SANDBOXRUN_ATTACKS")
	if name == "" {
		return
	}
	doc, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Clean(name), append(doc, '\n'), 0o644); err != nil {
		t.Error(err)
	}
}
