package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sandboxrun/runner/journal"
	"sandboxrun/runner/state"
)

// sse opens a stream and calls do for each message, until do is false or the stream ends.
func (r *rig) sse(ctx context.Context, run string, do func(message) bool, header ...string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+"/api/runs/"+run+"/events", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	err = r.messages(req, do, &status)
	return status, err
}

// websocket opens a stream and returns its messages until it is closed, and the close code.
func (r *rig) websocket(ctx context.Context, path string, do func([]byte) bool) (websocket.StatusCode, error) {
	c, res, err := websocket.Dial(ctx, "ws://"+r.addr+path, &websocket.DialOptions{Subprotocols: []string{"sandboxrun.v1", "bearer." + testToken}})
	if err != nil {
		if res != nil {
			err = fmt.Errorf("%d: %w", res.StatusCode, err)
		}
		return 0, err
	}
	defer func() { _ = c.CloseNow() }()
	if c.Subprotocol() != "sandboxrun.v1" || strings.Contains(res.Header.Get("Sec-WebSocket-Protocol"), testToken) {
		return 0, fmt.Errorf("protocol %q", res.Header.Get("Sec-WebSocket-Protocol"))
	}
	c.SetReadLimit(2 << 20)
	for {
		_, data, err := c.Read(ctx)
		if err != nil {
			return websocket.CloseStatus(err), err
		}
		if !do(data) {
			return 0, nil
		}
	}
}

func (r *rig) many(n int) (*state.RunDir, []byte) {
	r.t.Helper()
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	for i := range n {
		size := rand.IntN(400)
		if i%97 == 5 {
			size = 100 << 10
		}
		r.say(j, journal.EventSystemMessage, `{"text":"`+strings.Repeat("é", size)+`"}`)
	}
	r.end(d, j)
	whole, err := os.ReadFile(d.EventsPath())
	if err != nil {
		r.t.Fatal(err)
	}
	return d, whole
}

// Streams that are cut and joined again give the journal byte for byte.
func TestStreamsCutAnywhereJoinToTheJournal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, whole := r.many(600)
	for name, read := range map[string]func(next int64, stop int) ([]byte, bool){
		"sse": func(next int64, stop int) (got []byte, end bool) {
			var header []string
			if next > 1 {
				header = []string{"Last-Event-ID", strconv.FormatInt(next-1, 10)}
			}
			status, err := r.sse(t.Context(), d.ID(), func(m message) bool {
				if m.event != "" {
					end = m.event == "end" && m.data == `{"state":"ended","status":"success"}`
					return true
				}
				got = append(got, m.data+"\n"...)
				stop--
				return stop > 0
			}, header...)
			if err != nil {
				t.Error(err)
			}
			return got, end || status == http.StatusNoContent
		},
		"websocket": func(next int64, stop int) (got []byte, end bool) {
			code, _ := r.websocket(t.Context(), fmt.Sprintf("/api/scratch/process/%s/stream/ws?from=%d", d.ID(), next), func(data []byte) bool {
				got = append(append(got, data...), '\n')
				stop--
				return stop > 0
			})
			return got, code == websocket.StatusNormalClosure
		},
	} {
		var all []byte
		cuts := 0
		for end := false; !end; cuts++ {
			var got []byte
			got, end = read(int64(bytes.Count(all, []byte("\n")))+1, 1+rand.IntN(20))
			if all = append(all, got...); cuts > 1000 {
				t.Fatalf("%s: no end", name)
			}
		}
		if !bytes.Equal(all, whole) {
			t.Errorf("%s: %d bytes after %d cuts, want %d", name, len(all), cuts, len(whole))
		}
	}
}

func TestLiveEventsReachEveryReaderAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	const readers, events = 500, 200
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		lags    []time.Duration
		sent    [events + 4]time.Time
		caught  sync.WaitGroup
		failure = make(chan error, readers)
	)
	caught.Add(readers)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for i := range readers {
		wg.Go(func() {
			seen := int64(0)
			mine := make([]time.Duration, 0, events)
			event := func(data []byte) {
				now := time.Now()
				var e struct {
					Seq int64 `json:"seq"`
				}
				if err := json.Unmarshal(data, &e); err != nil || e.Seq != seen+1 {
					failure <- fmt.Errorf("event %d follows %d: %w", e.Seq, seen, err)
				}
				if seen = e.Seq; seen == 1 {
					caught.Done()
				}
				mu.Lock()
				at := sent[seen]
				mu.Unlock()
				if !at.IsZero() {
					mine = append(mine, now.Sub(at))
				}
			}
			var err error
			if i%2 == 0 {
				_, err = r.sse(ctx, d.ID(), func(m message) bool {
					if m.event == "" {
						event([]byte(m.data))
					}
					return true
				})
			} else if code, werr := r.websocket(ctx, "/api/runs/"+d.ID()+"/stream/ws", func(data []byte) bool { event(data); return true }); code != websocket.StatusNormalClosure {
				err = werr
			}
			if err != nil || seen != events+2 {
				failure <- fmt.Errorf("reader %d ended at %d: %w", i, seen, err)
			}
			mu.Lock()
			defer mu.Unlock()
			lags = append(lags, mine...)
		})
	}
	caught.Wait()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for i := range events {
		<-tick.C
		mu.Lock()
		sent[i+2] = time.Now()
		mu.Unlock()
		r.say(j, journal.EventSystemMessage, `{"text":"x"}`)
	}
	r.end(d, j)
	wg.Wait()
	close(failure)
	for err := range failure {
		t.Error(err)
	}
	slices.Sort(lags)
	if len(lags) > 0 {
		t.Logf("%d deliveries to %d readers: p50 %s, p95 %s, p99 %s", len(lags), readers, lags[len(lags)/2], lags[len(lags)*95/100], lags[len(lags)*99/100])
	}
}

func TestStreamsOfEndedAndUnknownRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, whole := r.many(3)
	last := strconv.Itoa(bytes.Count(whole, []byte("\n")))
	none := state.NewID()
	if status, err := r.sse(t.Context(), d.ID(), nil, "Last-Event-ID", last); status != 204 || err != nil {
		t.Errorf("an ended run that was read: %d %v", status, err)
	}
	if a := r.call(http.MethodGet, "/api/runs/"+none+"/events", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
	var got []byte
	if code, _ := r.websocket(t.Context(), "/api/runs/"+none+"/stream/ws", func(data []byte) bool { got = data; return true }); code != 4404 || !bytes.Contains(got, []byte(`"code":"not_found"`)) {
		t.Errorf("%d %s", code, got)
	}
	for _, query := range []string{"from=0", "from=-1", "from=x", "from=01", "from=99999999999999999999"} {
		if a := r.call(http.MethodGet, "/api/runs/"+d.ID()+"/events?"+query, ""); a.status != 400 {
			t.Errorf("%s: %d", query, a.status)
		}
		if a := r.call(http.MethodGet, "/api/runs/"+d.ID()+"/stream/ws?"+query, ""); a.status != 400 {
			t.Errorf("%s: %d", query, a.status)
		}
	}
	if a := r.call(http.MethodGet, "/api/runs/"+d.ID()+"/stream/ws", ""); a.status != 406 {
		t.Errorf("no WebSocket: %d", a.status)
	}
	// A browser's WebSocket from another site, or without the token, gets no upgrade.
	for name, o := range map[string]*websocket.DialOptions{
		"no token":     {Subprotocols: []string{"sandboxrun.v1"}},
		"wrong token":  {Subprotocols: []string{"sandboxrun.v1", "bearer." + testToken[1:] + "0"}},
		"foreign port": {HTTPHeader: http.Header{"Authorization": {"Bearer " + testToken}, "Origin": {"http://127.0.0.1:3000"}}},
		"foreign host": {HTTPHeader: http.Header{"Authorization": {"Bearer " + testToken}}, Host: "evil.example"},
	} {
		_, res, err := websocket.Dial(t.Context(), "ws://"+r.addr+"/api/runs/"+d.ID()+"/stream/ws", o)
		if err == nil || res.StatusCode != map[string]int{"no token": 401, "wrong token": 401, "foreign port": 403, "foreign host": 421}[name] {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPagesOfEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	for i := range 50 {
		r.say(j, journal.EventSystemMessage, fmt.Sprintf(`{"text":"Number %d"}`, i))
	}
	r.end(d, j)
	for query, want := range map[string]int{"": 52, "?limit=10": 10, "?from=51": 2, "?before=11&limit=4": 4, "?kinds=run_ended,run_started": 2, "?q=NUMBER+4": 11, "?q=nothing": 0} {
		var page EventPage
		a := r.call(http.MethodGet, "/api/runs/"+d.ID()+"/events"+query, "", "Accept", "application/json")
		if json.Unmarshal(a.body, &page) != nil || len(page.Events) != want || page.Last != 52 {
			t.Errorf("%s: %d events of %d: %.200s", query, len(page.Events), page.Last, a.body)
		}
	}
	for _, query := range []string{"limit=2001", "limit=0", "from=1&before=2", "before=x", "q=" + strings.Repeat("x", 201), "kind=x"} {
		if a := r.call(http.MethodGet, "/api/runs/"+d.ID()+"/events?"+query, "", "Accept", "application/json"); a.status != 400 {
			t.Errorf("%s: %d", query, a.status)
		}
	}
}

func TestStoppingIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	var last message
	var code websocket.StatusCode
	var wg sync.WaitGroup
	ready := make(chan struct{}, 2)
	wg.Go(func() {
		_, err := r.sse(t.Context(), d.ID(), func(m message) bool {
			if last = m; m.event == "caught_up" {
				ready <- struct{}{}
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		code, _ = r.websocket(t.Context(), "/api/runs/"+d.ID()+"/stream/ws", func([]byte) bool { ready <- struct{}{}; return true })
	})
	<-ready
	<-ready
	r.stop()
	wg.Wait()
	if last.event != "stopping" || code != websocket.StatusServiceRestart {
		t.Errorf("%+v, %d", last, code)
	}
	r.end(d, j)
}

// A reader that takes nothing is closed, and holds up nobody.
func TestReadersThatNeverReadAreClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.slow = time.Second
	d, j := r.begun()
	for range 60 {
		r.say(j, journal.EventSystemMessage, `{"text":"`+strings.Repeat("x", 900<<10)+`"}`)
	}
	var conns []net.Conn
	for range 20 {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		_, err = io.WriteString(c, "GET /api/runs/"+d.ID()+"/events HTTP/1.1\r\nHost: "+r.addr+"\r\nAuthorization: Bearer "+testToken+"\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	for began := time.Now(); !strings.Contains(string(r.call(http.MethodGet, "/metrics", "").body), `sandboxrun_streams_closed_total{reason="slow"} 20`); {
		if time.Since(began) > 30*time.Second {
			t.Fatal("slow readers are not closed")
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // nothing announces it
	}
	_ = conns
	r.end(d, j)
}

func TestFramesOfReadersAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, j := r.begun()
	r.say(j, journal.EventRunStarted, `{}`)
	c, _, err := websocket.Dial(t.Context(), "ws://"+r.addr+"/api/runs/"+d.ID()+"/stream/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + testToken}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	if err := c.Write(t.Context(), websocket.MessageText, make([]byte, maxFrame+1)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, _, err = c.Read(t.Context())
	}
	if websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("%v", err)
	}
	r.end(d, j)
}
