package mailbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sandboxrun/internal/publish"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func aBox(t *testing.T, a Asked) Box {
	t.Helper()
	b := At(t.TempDir())
	if err := b.Ask(a, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func request() Asked {
	return Asked{ID: "a1", Digest: "d", Tool: "Bash", Input: []byte(`{"command":"ls"}`), Complete: true, AskedAt: time.Now(), Deadline: time.Now().Add(time.Minute)}
}

func TestTheFirstAnswerCountsAlsoAgainstTheDeadline(t *testing.T) {
	t.Parallel()
	for range 20 {
		b := aBox(t, request())
		var won atomic.Int32
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				err := b.Answer(Answer{ID: "a1", Digest: "d", Decision: Allow, By: strconv.Itoa(i)}, time.Now())
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, ErrAnswered) && !errors.Is(err, ErrExpired):
					t.Error(err)
				}
			})
		}
		var counts Answer
		group.Go(func() {
			var err error
			if counts, err = b.Decide(Answer{ID: "a1", Digest: "d", Decision: Deny, By: "nobody", TimedOut: true}); err != nil {
				t.Error(err)
			}
		})
		group.Wait()
		stored, ok, err := b.Given("a1")
		if !ok || err != nil || stored.By != counts.By {
			t.Errorf("stored %+v, %v, %v; the deadline was told %+v", stored, ok, err, counts)
		}
		if late := counts.TimedOut; won.Load() != map[bool]int32{true: 0, false: 1}[late] {
			t.Errorf("%d answers counted, the deadline won: %v", won.Load(), late)
		}
	}
}

func TestAnswersThatDoNotCount(t *testing.T) {
	t.Parallel()
	long := request()
	long.Complete = false
	for name, c := range map[string]struct {
		asked Asked
		a     Answer
		after time.Duration
		want  error
	}{
		"another id":      {request(), Answer{ID: "a2", Digest: "d", Decision: Allow}, 0, ErrNotFound},
		"a path":          {request(), Answer{ID: "../a1", Digest: "d", Decision: Allow}, 0, ErrNotFound},
		"another request": {request(), Answer{ID: "a1", Digest: "e", Decision: Allow}, 0, ErrDigest},
		"no digest":       {request(), Answer{ID: "a1", Decision: Allow}, 0, ErrDigest},
		"late":            {request(), Answer{ID: "a1", Digest: "d", Decision: Allow}, 2 * time.Minute, ErrExpired},
		"too long":        {long, Answer{ID: "a1", Digest: "d", Decision: Allow}, 0, ErrIncomplete},
	} {
		b := aBox(t, c.asked)
		if err := b.Answer(c.a, time.Now().Add(c.after)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if n, err := b.Pending(); n != 1 || err != nil {
			t.Errorf("%s: %d wait, %v", name, n, err)
		}
	}
	b := aBox(t, long)
	if err := b.Answer(Answer{ID: "a1", Digest: "d", Decision: Deny, By: "me"}, time.Now()); err != nil {
		t.Errorf("denied: %v", err)
	}
	var invalid interface{ Error() string }
	for _, a := range []Answer{{ID: "a1", Digest: "d"}, {ID: "a1", Digest: "d", Decision: Deny, Reason: strings.Repeat("x", maxReason+1)},
		{ID: "a1", Digest: "d", Decision: Allow, Answers: map[string][]string{"q": {strings.Repeat("x", maxChoiceText)}}}} {
		if invalid = aBox(t, request()).Answer(a, time.Now()); invalid == nil {
			t.Errorf("%.80v was accepted", a)
		}
	}
}

func TestDamagedFilesAreNeverTrusted(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty": "", "half": `{"id":"a1","decision":"al`, "no decision": `{"id":"a1","digest":"d"}`,
		"another request": `{"id":"a2","digest":"d","decision":"allow"}`, "huge": `{"id":"a1","decision":"allow","reason":"` + strings.Repeat("x", maxAnswer) + `"}`,
	} {
		b := aBox(t, request())
		if err := os.WriteFile(b.answered("a1"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := b.Given("a1"); !ok || !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if err := b.Answer(Answer{ID: "a1", Digest: "d", Decision: Allow}, time.Now()); !errors.Is(err, ErrAnswered) {
			t.Errorf("%s: a second answer: %v", name, err)
		}
		if _, err := b.Decide(Answer{ID: "a1", Digest: "d", Decision: Allow}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: the worker was told %v", name, err)
		}
	}
	b := At(t.TempDir())
	if err := os.WriteFile(b.cancelPath(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, asked, err := b.Cancelled(); !asked || err != nil {
		t.Errorf("a damaged cancel: %v, %v", asked, err)
	}
}

func TestTheFirstCancelIsToldToAll(t *testing.T) {
	t.Parallel()
	b := At(t.TempDir())
	if _, asked, err := b.Cancelled(); asked || err != nil {
		t.Errorf("%v, %v", asked, err)
	}
	told := make([]Cancel, 8)
	var group sync.WaitGroup
	for i := range told {
		group.Go(func() {
			var err error
			if told[i], err = b.Cancel(Cancel{By: strconv.Itoa(i), Reason: strings.Repeat("r", 10_000)}, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	first, asked, err := b.Cancelled()
	if !asked || err != nil || len(first.Reason) > maxCancel {
		t.Errorf("%v, %v", asked, err)
	}
	for _, c := range told {
		if c.By != first.By {
			t.Errorf("told %q, stored %q", c.By, first.By)
		}
	}
	fi, err := os.Stat(b.cancelPath())
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

func TestRequestsAreListedOldestFirstAndSwept(t *testing.T) {
	t.Parallel()
	b := At(t.TempDir())
	if list, err := b.Requests(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	began := time.Now()
	for i := range 12 {
		a := request()
		a.ID, a.AskedAt = "a"+strconv.Itoa(i+1), began.Add(time.Duration(i)*time.Second)
		if err := b.Ask(a, func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "ls", "[hidden]")) }); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(b.approvals(), publish.HalfPrefix+"1")
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := b.Requests()
	if err != nil || len(list) != 12 || list[11].ID != "a12" || strings.Contains(string(list[0].Input), "ls") {
		t.Errorf("%+v, %v", list, err)
	}
	if err := b.Ask(request(), nil); err == nil {
		t.Error("a request was replaced")
	}
	if err := b.Sweep(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("a half-written file is left")
	}
}
