package egress

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

// held is a resolver that finds nothing until its caller gives up, and takes a moment even then.
type held struct {
	asked, left chan struct{}
}

func (h held) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	close(h.asked)
	<-ctx.Done()
	time.AfterFunc(20*time.Millisecond, func() { close(h.left) })
	<-h.left
	return nil, context.Cause(ctx)
}

func TestClosedGateDialsNothing(t *testing.T) {
	t.Parallel()
	h := held{make(chan struct{}), make(chan struct{})}
	r := newRig(t, Config{Allow: []string{"slow.example"}, Resolver: h})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.proxy, http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		req.URL.Opaque = "http://slow.example/"
		if res, err := r.client.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body) // no reader is left
			_ = res.Body.Close()
		}
	}()
	<-h.asked
	r.stop()
	select {
	case <-h.left:
	default:
		t.Error("the gate has ended, and a name is still being looked up")
	}
	<-answered
}
