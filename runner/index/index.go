// Package index lists and searches runs. Runs that have ended never change, so what is shown of them is read once.
package index

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// MaxPage bounds the runs of one page.
const MaxPage = 200

// settledAfter is how long after its end a run may still get a successor: it is kept only then.
const settledAfter = 10 * time.Second

// maxKept bounds the ended runs that are kept in memory; older ones are read again whenever they are listed.
const maxKept = 50_000

// Query chooses runs. Zero fields choose all.
type Query struct {
	Limit     int    // at most MaxPage, 0 for MaxPage
	Before    string // id of a run: only runs accepted before it
	State     view.State
	Status    document.Status
	Agent     string
	Workspace string
	Session   string
	TaskID    string
	Compare   string
	Words     string // each must occur, in any case, in what a list shows of the run
}

// Page is a part of the list of runs, the newest first.
type Page struct {
	Runs []view.RunView `json:"runs"`
	Next string         `doc:"Value of before for the next page; missing on the last." json:"next,omitempty"`
}

// Index is the list of runs of one state directory. It is safe for concurrent use.
type Index struct {
	state *state.State
	// waiting lists runs that have no directory yet, in any order; nil for none.
	waiting func() ([]view.RunView, error)

	mu    sync.Mutex
	ended map[string]view.RunView
}

// New makes an index.
func New(st *state.State, waiting func() ([]view.RunView, error)) *Index {
	return &Index{state: st, waiting: waiting, ended: map[string]view.RunView{}}
}

// Warm reads the ended runs, so that the first list is fast. It stops with ctx.
func (x *Index) Warm(ctx context.Context) {
	ids, err := x.state.RunIDs()
	if err != nil {
		return // the first list reports it
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return
		}
		_, _ = x.look(id) // a run that cannot be read is reported when it is listed
	}
}

// Page returns the runs that q chooses.
func (x *Index) Page(ctx context.Context, q Query) (Page, error) {
	page := Page{Runs: []view.RunView{}}
	if q.Limit <= 0 || q.Limit > MaxPage {
		q.Limit = MaxPage
	}
	q.Words = strings.ToLower(q.Words)
	ids, err := x.state.RunIDs()
	if err != nil {
		return page, err
	}
	waiting, err := x.waitingFor(&ids)
	if err != nil {
		return page, err
	}
	if q.Before != "" {
		// Ids sort by time, and the list begins with the newest.
		ids = ids[sort.Search(len(ids), func(i int) bool { return ids[i] < q.Before }):]
	}
	for _, id := range ids {
		if err := context.Cause(ctx); err != nil {
			return page, err
		}
		v, ok := waiting[id]
		if !ok {
			v, err = x.look(id)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			v = damaged(id)
		}
		if !q.chooses(v) {
			continue
		}
		if len(page.Runs) == q.Limit {
			page.Next = page.Runs[q.Limit-1].RunID
			break
		}
		page.Runs = append(page.Runs, v)
	}
	return page, nil
}

// waitingFor adds the ids of runs without a directory, and returns these runs.
func (x *Index) waitingFor(ids *[]string) (map[string]view.RunView, error) {
	runs := map[string]view.RunView{}
	if x.waiting == nil {
		return runs, nil
	}
	list, err := x.waiting()
	if err != nil || len(list) == 0 {
		return runs, err
	}
	for _, v := range list {
		if at, found := slices.BinarySearchFunc(*ids, v.RunID, func(have, want string) int { return strings.Compare(want, have) }); !found {
			*ids = slices.Insert(*ids, at, v.RunID)
			runs[v.RunID] = v
		}
	}
	return runs, nil
}

// damaged is what a list shows of a run whose files cannot be read. One such run must not hide the others.
func damaged(id string) view.RunView {
	return view.RunView{RunID: id, TaskID: id, State: view.Crashed, Summary: "the files of this run cannot be read", Issues: []string{}, Attempts: 1}
}

// look shows a run: a live one as it is now.
func (x *Index) look(id string) (view.RunView, error) {
	x.mu.Lock()
	v, ok := x.ended[id]
	x.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := view.Of(x.state, id)
	if err != nil || v.State != view.Ended || v.SupersededBy == "" && time.Since(*v.EndedAt) < settledAfter {
		return v, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.ended) >= maxKept {
		clear(x.ended)
	}
	x.ended[id] = v
	return v, nil
}

// Forget drops what is kept of a run that was removed or got a successor.
func (x *Index) Forget(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.ended, id)
}

func (q Query) chooses(v view.RunView) bool {
	switch {
	case q.State != "" && q.State != v.State,
		q.Status != "" && q.Status != v.Status,
		q.Agent != "" && q.Agent != v.Agent,
		q.Workspace != "" && q.Workspace != v.WorkspaceID,
		q.Session != "" && q.Session != v.SessionID,
		q.TaskID != "" && q.TaskID != v.TaskID,
		q.Compare != "" && q.Compare != v.CompareID:
		return false
	case q.Words == "":
		return true
	}
	text := strings.ToLower(strings.Join(append([]string{v.RunID, v.TaskID, v.Summary, v.Objective, v.RepoRoot, v.Agent, v.Model, v.Branch, v.SessionID}, v.Issues...), "\n"))
	for word := range strings.FieldsSeq(q.Words) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
