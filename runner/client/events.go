package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

const (
	// maxMessage bounds one line of a stream: an event and the name of its field.
	maxMessage = 1<<20 + 64
	// silentBound is how long a stream may be silent before it counts as cut: the server gives a sign of life every 15 s.
	silentBound = 45 * time.Second
	// comeAgain is the pause before a cut stream is opened again, and patience how long that is tried.
	comeAgain = 500 * time.Millisecond
	patience  = 30 * time.Second
)

// Events reads a run's events from number from on. With follow it waits for more until the run has ended, also over a
// restart of the server; without it stops at the newest. The last pair may hold an error instead of an event.
func (c *Client) Events(ctx context.Context, run string, from int64, follow bool) iter.Seq2[journal.Event, error] {
	if !follow {
		return c.pages(ctx, run, from)
	}
	return func(yield func(journal.Event, error) bool) {
		next := from
		lost := time.Time{}
		for {
			over, err := c.stream(ctx, run, &next, func(e journal.Event) bool {
				lost = time.Time{}
				return yield(e, nil)
			})
			switch {
			case over:
				return
			case context.Cause(ctx) != nil:
				yield(journal.Event{}, context.Cause(ctx))
				return
			}
			if bridge := (*document.BridgeError)(nil); err != nil && !errors.As(err, &bridge) {
				yield(journal.Event{}, err)
				return
			}
			if lost.IsZero() {
				lost = time.Now()
			}
			if time.Since(lost) > patience {
				yield(journal.Event{}, err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(comeAgain):
			}
		}
	}
}

// stream reads one stream until it is cut. over says that there is no more to read: the run has ended, or nobody wants
// more.
func (c *Client) stream(ctx context.Context, run string, next *int64, do func(journal.Event) bool) (over bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}}
	if *next > 1 {
		header.Set("Last-Event-ID", strconv.FormatInt(*next-1, 10))
	}
	silent := time.AfterFunc(silentBound, cancel)
	defer silent.Stop()
	res, err := c.do(ctx, http.MethodGet, "/api/runs/"+url.PathEscape(run)+"/events", nil, header)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNoContent {
		return true, nil
	}
	cut := &document.BridgeError{Message: "the server's stream was cut", Hint: `see whether "sandboxrun serve" runs`}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxMessage)
	name := ""
	for lines.Scan() {
		silent.Reset(silentBound)
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(field) {
		case "":
			name = ""
		case "event":
			name = string(value)
		case "data":
			if name == "end" {
				return true, nil
			}
			if name != "" {
				continue
			}
			var e journal.Event
			if json.Unmarshal(value, &e) != nil {
				return false, cut // in the middle of a line
			}
			if e.Seq < *next {
				continue
			}
			*next = e.Seq + 1
			if !do(e) {
				return true, nil
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return false, fmt.Errorf("read the server's stream: %w", lines.Err())
	}
	return false, cut
}

func (c *Client) pages(ctx context.Context, run string, from int64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for next := max(1, from); ; {
			var page struct {
				Events []journal.Event `json:"events"`
			}
			path := fmt.Sprintf("/api/runs/%s/events?from=%d&limit=2000", url.PathEscape(run), next)
			if err := c.get(ctx, path, &page); err != nil {
				yield(journal.Event{}, err)
				return
			}
			if len(page.Events) == 0 {
				return
			}
			for _, e := range page.Events {
				if !yield(e, nil) {
					return
				}
				next = e.Seq + 1
			}
		}
	}
}

// get reads one JSON document.
func (c *Client) get(ctx context.Context, path string, into any) error {
	res, err := c.do(ctx, http.MethodGet, path, nil, http.Header{"Accept": {"application/json"}})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return c.gone(ctx, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}
