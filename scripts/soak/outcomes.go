package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"sandboxrun/runner/document"
)

// wrong is a sort of violation.
type wrong int

const (
	leaked     wrong = iota // something of an ended run is left
	lost                    // a task or its branch is not in exactly one result
	doubled                 // a task ran twice
	corrupted               // a repository or a result is damaged
	unexpected              // an end that does not fit the task's disturbance
	wrongs
)

// maxTold bounds the violations that are printed one by one.
const maxTold = 100

// outcomes records the ends of the tasks. It is safe for concurrent use.
type outcomes struct {
	mu           sync.Mutex
	pages        []page // the last is being written
	told         map[string]bool
	endings      map[string]known // by task
	tallies      map[string]*tally
	disturbances map[disturbance]int
	beside       int
}

// page is one part of a soak.
type page struct {
	done, inside int // tasks, and those of the long-lived runner
	counts       [wrongs]int
	gauge        gauge // at its end
}

func (l *outcomes) page() *page { return &l.pages[len(l.pages)-1] }

// known is recorded of a task until its run is found.
type known struct {
	run    string // from the result it printed; "" for none
	status document.Status
	branch string
	ran    bool // it must have a run: it was undisturbed, or it printed a result
	beside bool
}

// tally counts the ends of the tasks of one kind.
type tally struct {
	tasks, struck int
	exits         map[int]int
}

func newOutcomes() *outcomes {
	return &outcomes{pages: make([]page, 1), told: map[string]bool{}, endings: map[string]known{}, tallies: map[string]*tally{}, disturbances: map[disturbance]int{}}
}

// violate counts and prints a violation.
func (l *outcomes) violate(w wrong, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprintf("%s: %s", w, fmt.Sprintf(format, args...))
	if l.told[text] {
		return // found again by the next audit
	}
	l.told[text] = true
	l.page().counts[w]++
	if len(l.told) <= maxTold {
		fmt.Fprintln(os.Stderr, "VIOLATION", text)
	}
}

func (w wrong) String() string {
	return [wrongs]string{"leaked", "lost", "doubled", "corrupted", "unexpected"}[w]
}

func (l *outcomes) violations() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, p := range l.pages {
		for _, c := range p.counts {
			n += c
		}
	}
	return n
}

// ended records the end of a task and judges it.
func (l *outcomes) ended(a assignment, e ending) {
	if why := misfit(a, e); why != "" {
		l.violate(unexpected, "%s (%s, %s, inside %v): %s: exit %d, %s, stderr %.300q", a.id, a.kind.name, a.disturbance, a.inside, why, e.exit, told(e.result), e.stderr)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.kind == besideKind {
		l.beside++
	} else {
		l.page().done++
	}
	if a.inside {
		l.page().inside++
	}
	t := l.tallies[a.kind.name]
	if t == nil {
		t = &tally{exits: map[int]int{}}
		l.tallies[a.kind.name] = t
	}
	t.tasks++
	t.exits[e.exit]++
	if e.struck {
		t.struck++
		l.disturbances[a.disturbance]++
	}
	k := known{ran: !e.struck || e.result != nil, beside: a.kind == besideKind}
	if e.result != nil {
		k.run, k.status, k.branch = e.result.RunID, e.result.Status, e.result.Git.Branch
	}
	l.endings[a.id] = k
}

// misfit returns why an end does not fit the task and its disturbance; "" when it does.
func misfit(a assignment, e ending) string {
	usual := slices.Contains(a.kind.exits, e.exit)
	sent, signalled := signals[a.disturbance]
	switch {
	case e.exit != -1 && e.result == nil && !e.struck:
		return "no result"
	case !e.struck && !usual:
		return "not how this kind ends"
	case !e.struck && a.kind.lands && e.result.Git.Branch == "":
		return "nothing landed"
	case !e.struck || a.disturbance == killed:
		return ""
	case (a.disturbance == boxKilled || a.disturbance == boxRemoved) && e.box && e.exit == 0:
		return "success although its box was removed"
	case (a.disturbance == boxKilled || a.disturbance == boxRemoved) && (e.result == nil || !usual && !slices.Contains([]int{0, 3, 4, 5, 6}, e.exit)):
		return "not how a run without its box ends"
	case signalled && !usual && e.exit != 128+int(sent) && e.exit != -1:
		return "not how a stopped run ends"
	case e.result == nil && usual:
		return "no result"
	}
	return ""
}

// compare compares a stored result with the one its caller got.
func (l *outcomes) compare(stored *document.Result) {
	l.mu.Lock()
	k, ok := l.endings[stored.TaskID]
	l.mu.Unlock()
	switch {
	case !ok:
		l.violate(doubled, "run %s is of an unknown task %q", stored.RunID, stored.TaskID)
	case k.run == stored.RunID && (k.status != stored.Status || k.branch != stored.Git.Branch):
		l.violate(corrupted, "run %s is stored as %s on %q and was printed as %s on %q", stored.RunID, stored.Status, stored.Git.Branch, k.status, k.branch)
	}
}

// count counts tasks without exactly one run.
func (l *outcomes) count(beside bool, byTask map[string][]string) {
	l.mu.Lock()
	endings := maps.Clone(l.endings)
	l.mu.Unlock()
	for id, k := range endings {
		runs := byTask[id]
		switch {
		case k.beside != beside:
		case len(runs) > 1:
			l.violate(doubled, "task %s has the runs %v", id, runs)
		case len(runs) == 0 && k.ran:
			l.violate(lost, "task %s has no result", id)
		case k.run != "" && runs[0] != k.run:
			l.violate(lost, "task %s printed run %s and has %s", id, k.run, runs[0])
		}
	}
}

// turn measures this process and turns the page.
func (l *outcomes) turn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page().gauge = measure()
	l.pages = append(l.pages, page{})
}

func told(r *document.Result) string {
	if r == nil {
		return "no result"
	}
	codes := []string{}
	for _, i := range r.Issues {
		codes = append(codes, i.Code)
	}
	return fmt.Sprintf("%s %v run %s", r.Status, codes, r.RunID)
}
