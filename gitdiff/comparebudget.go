package gitdiff

import "time"

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
