package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// ledger is a budget that writes down what it is told, and admits so many requests.
type ledger struct {
	left int
	said chan string
}

func (l *ledger) Begin(_ context.Context, input, output int64) error {
	if l.left--; l.left < 0 {
		return errors.New("used up")
	}
	l.said <- fmt.Sprint("begin ", input, " ", output)
	return nil
}

func (l *ledger) End(_ context.Context, input, output, used int64) {
	l.said <- fmt.Sprint("end ", input, " ", output, " ", used)
}

func TestBudgetsAreToldWhatRequestsUse(t *testing.T) {
	t.Parallel()
	pad := func(head string) string { return head + strings.Repeat(" ", 400-len(head)) } // 100 tokens by estimate
	for _, c := range []struct {
		name, body string
		answer     http.HandlerFunc
		want       []string
	}{
		{"counted", pad(`{"model":"m","max_tokens":5000}`), func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"usage":{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":1}}`)
		}, []string{"begin 100 5000", "end 100 5000 16"}},
		{"not counted", pad(`{"model":"m"}`), func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 800))
		}, []string{"begin 100 0", "end 100 0 300"}},
		{"not counted, and little may come", pad(`{"model":"m","max_tokens":20}`), func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 800))
		}, []string{"begin 100 20", "end 100 20 120"}},
		{"refused by the provider", pad(`{"model":"m"}`), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
		}, []string{"begin 100 0", "end 100 0 0"}},
		{"cut", pad(`{"model":"m"}`), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"message":{"usage":{"input_tokens":9,"output_tokens":1}}}`+"\n\n"+strings.Repeat(":\n", 400))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, []string{"begin 100 0", fmt.Sprint("end 100 0 ", 9+(66+800)/4)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &ledger{left: 1, said: make(chan string, 2)}
			r := newRig(t, Config{Routes: []Route{provider(t, c.answer)}, Budget: l})
			res, err := r.client.Do(r.question(t.Context(), t, strings.NewReader(c.body)))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body) // cut answers are among them
			_ = res.Body.Close()
			if got := []string{<-l.said, <-l.said}; !slices.Equal(got, c.want) {
				t.Errorf("told %q, want %q", got, c.want)
			}
			if status, answer, _ := r.ask(t, small); status != http.StatusForbidden || !strings.Contains(answer, "used up") {
				t.Errorf("afterwards: %d %s", status, answer)
			}
		})
	}
}

func TestRefusedRequestsCostNothing(t *testing.T) {
	t.Parallel()
	l := &ledger{left: 1, said: make(chan string, 2)}
	r := newRig(t, Config{Routes: []Route{provider(t, unreachable(t))}, Budget: l})
	if status, _, _ := r.ask(t, `{"model":"m","mcp_servers":[]}`); status != http.StatusBadRequest || len(l.said) != 0 {
		t.Errorf("%d, %d", status, len(l.said))
	}
}
