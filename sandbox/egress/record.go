package egress

import (
	"strconv"
	"sync"
	"time"
)

// Kinds of [Record].
const (
	KindRequest = "request" // the broker forwarded a request, with any result
	KindConnect = "connect" // the proxy carried a connection, or tried to
	KindDenied  = "denied"  // the gate refused a request
)

// Record is one action of the gate for the box. Texts that the box chose are
// escaped to printable ASCII and cut; no field ever holds a key.
type Record struct {
	Kind          string
	Time          time.Time     // when it began
	Name          string        // the target: host:port, a looked-up name, or provider and path
	Reason        string        // why it was refused or failed; empty on success
	Address       string        // private address an allowed name resolves to; empty unless that is the reason
	Count         int           // how many actions it sums up; over 1 only in closing summaries
	Provider      string        // broker only
	Method        string        // empty for tunnels and names
	Path          string        // broker only
	Status        int           // HTTP status the box saw; 0 without HTTP
	RequestBytes  int64         // body bytes from the box
	ResponseBytes int64         // body bytes to the box
	Duration      time.Duration // until the last byte
	Judged        bool          // broker only: the call is on the list, and what it asked for was refused
	Unreached     string        // broker only: why the provider gave no answer at all, without addresses; empty when it did
	Usage
}

// Usage is a request's cost in tokens, as the provider reports it.
type Usage struct {
	Model            string
	InputTokens      int64 // not counting those read from or written to the cache
	OutputTokens     int64
	CacheReadTokens  int64
	CacheWriteTokens int64
}

const (
	maxText = 300 // bytes of one escaped text in a Record

	// recordsPerRun bounds connect records and the distinct refusals recorded one by one. Requests are bounded by
	// Limits.Requests.
	recordsPerRun = 500
)

// recorder passes records on one at a time. A new refusal is recorded at once; repetitions are only counted and summed
// up by flush, so that a loop in the box cannot flood the sink.
type recorder struct {
	mu      sync.Mutex
	sink    func(Record)
	denied  map[refusal]*Record // Count is the number not recorded yet
	lost    int                 // refusals beyond the bound
	connect int                 // connect records passed on
	unsaid  int                 // connections beyond the bound
}

type refusal struct{ name, reason, method string }

func newRecorder(sink func(Record)) *recorder {
	if sink == nil {
		sink = func(Record) {}
	}
	return &recorder{sink: sink, denied: map[refusal]*Record{}}
}

func (r *recorder) add(rec Record) {
	rec.Name, rec.Reason = printable(rec.Name), printable(rec.Reason)
	rec.Method, rec.Path, rec.Model = printable(rec.Method), printable(rec.Path), printable(rec.Model)
	rec.Count = 1

	r.mu.Lock()
	defer r.mu.Unlock()
	switch rec.Kind {
	case KindDenied:
		key := refusal{rec.Name, rec.Reason, rec.Method}
		if again := r.denied[key]; again != nil {
			again.Count++
			return
		}
		if len(r.denied) >= recordsPerRun {
			r.lost++
			return
		}
		kept := rec
		kept.Count = 0
		r.denied[key] = &kept
	case KindConnect:
		if r.connect >= recordsPerRun {
			r.unsaid++
			return
		}
		r.connect++
	}
	r.sink(rec)
}

// flush records the counted repetitions and forgets them.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.denied {
		if rec.Count > 0 {
			r.sink(*rec)
			rec.Count = 0
		}
	}
	if r.lost > 0 {
		r.sink(Record{Kind: KindDenied, Time: time.Now(), Count: r.lost, Reason: "further refusals"})
		r.lost = 0
	}
	if r.unsaid > 0 {
		r.sink(Record{Kind: KindConnect, Time: time.Now(), Count: r.unsaid, Reason: "further connections"})
		r.unsaid = 0
	}
}

// printable escapes s so that it can be shown anywhere, and cuts it.
func printable(s string) string {
	cut := len(s) > maxText
	if cut {
		s = s[:maxText]
	}
	q := strconv.QuoteToASCII(s)
	q = q[1 : len(q)-1]
	if len(q) > maxText {
		q, cut = q[:maxText], true
	}
	if cut {
		q += "..."
	}
	return q
}
