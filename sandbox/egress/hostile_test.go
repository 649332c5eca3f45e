package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"testing"

	"sandboxrun/sandbox/egress/tunnel"

	"github.com/hashicorp/yamux"
)

// serve starts a gate on one end of a pipe and returns the guest's end. The channel receives the result of Serve.
func serve(t *testing.T, cfg Config) (net.Conn, *Gate, <-chan error) {
	t.Helper()
	gate, err := NewGate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	inside, outside := net.Pipe()
	result := make(chan error, 1)
	go func() { result <- gate.Serve(t.Context(), outside) }()
	t.Cleanup(func() {
		_ = inside.Close()
		_ = gate.Close()
	})
	return inside, gate, result
}

func TestGarbageEndsTheTunnel(t *testing.T) {
	t.Parallel()
	for _, garbage := range []string{"hello world, this is not yamux", "\x00\x02\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		guest, gate, result := serve(t, Config{})
		if _, err := io.WriteString(guest, garbage); err != nil {
			t.Logf("cut while writing: %v", err)
		}
		if err := <-result; !errors.Is(err, errFrame) {
			t.Errorf("%q: %v", garbage, err)
		}
		if err := gate.Ready(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("ready: %v", err)
		}
	}
}

func TestTunnelCutInsideAFrameEnds(t *testing.T) {
	t.Parallel()
	guest, _, result := serve(t, Config{})
	if _, err := guest.Write(frame(0, frameWindow, flagSYN, 1, 0)[:7]); err != nil {
		t.Fatal(err)
	}
	_ = guest.Close()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// TestGuestThatNeverReadsDoesNotHoldTheGate opens streams and reads nothing, so that the gate's first answer is never
// delivered.
func TestGuestThatNeverReadsDoesNotBlockTheGate(t *testing.T) {
	t.Parallel()
	guest, gate, result := serve(t, Config{})
	for id := uint32(1); id < 80; id += 2 {
		if _, err := guest.Write(frame(0, frameData, flagSYN, id, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := gate.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestThousandsOfStreamsEndTheTunnel(t *testing.T) {
	t.Parallel()
	guest, _, result := serve(t, Config{Limits: Limits{Streams: 8}})
	session, err := yamux.Client(guest, tunnel.Config(tunnel.GuestLinger))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	opened := 0
	for range 5000 { // none is ever closed by this guest
		st, err := session.OpenStream()
		if err != nil {
			break
		}
		if err := (tunnel.Header{Service: tunnel.ServiceBroker}).Write(st); err != nil {
			break
		}
		opened++
	}
	if err := <-result; !errors.Is(err, errFrame) || opened == 5000 {
		t.Errorf("%d streams, %v", opened, err)
	}
}

func TestStreamsWithoutAKnownServiceAreClosed(t *testing.T) {
	t.Parallel()
	guest, gate, _ := serve(t, Config{})
	session, err := yamux.Client(guest, tunnel.Config(tunnel.GuestLinger))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, opening := range []string{"", "GET / HTTP/1.1\r\n", "SBX\x01\x09\x00\x00\x00", "SBX\x01\x05\x00\x00\x50", "SBX\x02\x01\x00\x00\x00", "SBX\x01\x01\x01\x00\x00"} {
		st, err := session.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(st, opening); err != nil {
			t.Fatal(err)
		}
		if opening == "" {
			_ = st.Close() // half-open: no data follows, the other half stays
		}
		if b, err := io.ReadAll(st); err != nil || len(b) > 0 {
			t.Errorf("%q: answered %q, %v", opening, b, err)
		}
		_ = st.Close()
	}
	select {
	case <-gate.ready:
		t.Error("one of them counted as a hello")
	default:
	}
}

func TestGateServesOnce(t *testing.T) {
	t.Parallel()
	_, gate, _ := serve(t, Config{})
	for range 2 {
		if err := gate.Close(); err != nil {
			t.Fatal(err)
		}
	}
	inside, outside := net.Pipe()
	if err := gate.Serve(t.Context(), outside); !errors.Is(err, ErrClosed) {
		t.Errorf("serve after close: %v", err)
	}
	if _, err := inside.Write([]byte("x")); err == nil {
		t.Error("the refused connection is still open")
	}
	if _, err := gate.Dial(t.Context(), 80); !errors.Is(err, ErrClosed) {
		t.Errorf("dial: %v", err)
	}
}

// FuzzServe feeds a gate the bytes of a hostile guest: it never panics or hangs, and is ready only after a hello.
func FuzzServe(f *testing.F) {
	hello := slices.Concat(frame(0, frameData, flagSYN, 1, tunnel.HeaderSize)[:frameHeader], []byte("SBX\x01\x01\x00\x00\x00"))
	broker := slices.Concat(frame(0, frameData, flagSYN, 3, tunnel.HeaderSize)[:frameHeader], []byte("SBX\x01\x02\x00\x00\x00"))
	request := "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n"
	for _, seed := range [][]byte{
		{}, []byte("garbage"), hello, append(bytes.Clone(hello), broker...),
		append(append(bytes.Clone(broker), frame(0, frameData, 0, 3, uint32(len(request)))[:frameHeader]...), request...),
		append(frame(0, frameWindow, flagSYN, 5, 0), frame(0, frameWindow, 8, 5, 0)...),
		append(frame(0, frameWindow, flagSYN|4|8, 7, 0), frame(0, frameWindow, 4, 7, 0)...),
		append(frame(0, frameWindow, flagSYN, 9, 1<<31), frame(0, frameWindow, 2, 9, 1<<31)...),
		append(frame(0, frameWindow, flagSYN, 9, 0), frame(0, frameWindow, flagSYN, 9, 0)...),
		frame(0, frameGoAway, 0, 0, 0), frame(0, framePing, flagSYN, 0, 0),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		gate, err := NewGate(Config{})
		if err != nil {
			t.Fatal(err)
		}
		inside, outside := net.Pipe()
		served, drained := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(served)
			_ = gate.Serve(t.Context(), outside) // any result is right
		}()
		go func() {
			defer close(drained)
			_, _ = io.Copy(io.Discard, inside)
		}()
		_, _ = inside.Write(input)
		_ = inside.Close()
		<-served
		<-drained
		if !bytes.Contains(input, tunnel.Magic[:]) && gate.Ready(t.Context()) == nil {
			t.Error("ready without a hello")
		}
	})
}
