package change

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// maxCompared bounds the lines of both sides between the common head and tail. Beyond it, as beyond the time limit, they
// count as replaced, which is still a true edit, only not a short one.
const maxCompared = 40_000

// lineEdit turns one text into another by leaving lines out and putting lines in.
type lineEdit struct {
	old, new []string
	gone     []bool // which lines of old are left out
	put      []bool // which lines of new are put in
}

// counts returns how many lines are left out and put in.
func (e *lineEdit) counts() (gone, put int) {
	for _, g := range e.gone {
		if g {
			gone++
		}
	}
	for _, p := range e.put {
		if p {
			put++
		}
	}
	return gone, put
}

// compareLines finds a short edit from was to now, within the time limit as far as it can.
func compareLines(was, now string, limit time.Duration) *lineEdit {
	e := &lineEdit{old: splitLines(was), new: splitLines(now)}
	e.gone, e.put = make([]bool, len(e.old)), make([]bool, len(e.new))
	head, tail := 0, 0
	for head < min(len(e.old), len(e.new)) && e.old[head] == e.new[head] {
		head++
	}
	a, b := e.old[head:], e.new[head:]
	for tail < min(len(a), len(b)) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	gone, put := e.gone[head:head+len(a)], e.put[head:head+len(b)]
	if len(a) == 0 || len(b) == 0 || len(a)+len(b) > maxCompared || limit <= 0 || !shortEdit(a, b, gone, put, limit) {
		fill(gone)
		fill(put)
	}
	slide(e.old, e.gone)
	slide(e.new, e.put)
	return e
}

// shortEdit marks the lines of the shortest edit between a and b, which both have some, and reports whether it is one.
//
// It calls the bisection of go-diff itself: the usual way in first searches long common parts with a search that is
// quadratic for repeated lines and does not watch the clock.
func shortEdit(a, b []string, gone, put []bool, limit time.Duration) bool {
	if len(a) == 1 || len(b) == 1 { // the bisection needs more
		return oneLine(a, b, gone, put)
	}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // switches that search off; the deadline is passed below
	x, y, _ := dmp.DiffLinesToRunes(strings.Join(a, ""), strings.Join(b, ""))
	i, j := 0, 0
	for _, part := range dmp.DiffBisect(string(x), string(y), time.Now().Add(limit)) {
		n := utf8.RuneCountInString(part.Text)
		if part.Type != diffmatchpatch.DiffInsert {
			i += n
		}
		if part.Type != diffmatchpatch.DiffDelete {
			j += n
		}
		if i > len(a) || j > len(b) {
			return false
		}
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			fill(gone[i-n : i])
		case diffmatchpatch.DiffInsert:
			fill(put[j-n : j])
		case diffmatchpatch.DiffEqual:
			if !slices.Equal(a[i-n:i], b[j-n:j]) {
				return false
			}
		}
	}
	return i == len(a) && j == len(b)
}

// oneLine is shortEdit where one side is a single line: the other side may hold it.
func oneLine(a, b []string, gone, put []bool) bool {
	fill(gone)
	fill(put)
	if len(a) == 1 {
		if i := slices.Index(b, a[0]); i >= 0 {
			gone[0], put[i] = false, false
		}
	} else if i := slices.Index(a, b[0]); i >= 0 {
		gone[i], put[0] = false, false
	}
	return true
}

func fill(marks []bool) {
	for i := range marks {
		marks[i] = true
	}
}

// Bounds of the comparisons of one diff.
const (
	compareBytes = 512 << 20        // all texts
	compareTime  = 30 * time.Second // all comparisons
	compareLimit = 2 * time.Second  // one comparison
)

// compareBudget is what is left for comparing texts by line. When the time is up, changed parts count as replaced; when the
// bytes are, files are compared as a whole.
type compareBudget struct {
	bytes int
	time  time.Duration
}

func newCompareBudget() *compareBudget { return &compareBudget{bytes: compareBytes, time: compareTime} }

// take reports whether n more bytes may be compared.
func (b *compareBudget) take(n int) bool {
	b.bytes -= n
	return b.bytes >= 0
}

// compare finds a short edit between two texts.
func (b *compareBudget) compare(t texts) *lineEdit {
	start := time.Now()
	e := compareLines(t.old, t.new, min(b.time, compareLimit))
	b.time -= time.Since(start)
	return e
}
