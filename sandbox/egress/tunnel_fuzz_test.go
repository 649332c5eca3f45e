package egress

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"sandboxrun/sandbox/egress/guest"
	"sandboxrun/sandbox/egress/tunnel"

	"github.com/hashicorp/yamux"
)

// FuzzFrames checks that the frame check sees the same in pieces of any size, changes nothing, and passes no frame
// that an honest guest never sends.
func FuzzFrames(f *testing.F) {
	f.Add(bytes.Join([][]byte{frame(0, frameWindow, flagSYN, 1, 0), frame(0, frameData, 0, 1, 9), frame(0, frameGoAway, 0, 0, 0)}, nil))
	f.Add(frame(0, framePing, flagSYN, 0, 1))
	f.Add(append(frame(0, frameData, 0, 1, 3), frame(0, frameWindow, flagSYN, 4, 0)...))
	f.Add(frame(0, frameData, 0, 1, tunnel.StreamWindow+1))
	f.Fuzz(func(t *testing.T, input []byte) {
		watched := func(r io.Reader) ([]byte, error) {
			return io.ReadAll(&frames{ReadWriteCloser: readOnly{r}, left: 1 << 30})
		}
		whole, err := watched(bytes.NewReader(input))
		pieces, perr := watched(iotest.OneByteReader(bytes.NewReader(input)))
		if (err == nil) != (perr == nil) || !bytes.HasPrefix(pieces, whole) || !bytes.HasPrefix(input, pieces) {
			t.Fatalf("whole: %d bytes, %v; in pieces: %d bytes, %v", len(whole), err, len(pieces), perr)
		}
		if err == nil && len(whole) != len(input) {
			t.Fatalf("%d bytes of %d passed", len(whole), len(input))
		}
		for p := pieces; len(p) >= frameHeader; {
			kind, flags, id, length := p[1], binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint32(p[4:]), binary.BigEndian.Uint32(p[8:])
			if p[0] != 0 || kind == framePing || kind > frameGoAway || flags&flagSYN != 0 && id%2 == 0 || kind == frameData && length > tunnel.StreamWindow {
				t.Fatalf("let through: % x", p[:frameHeader])
			}
			p = p[frameHeader:]
			if kind == frameData {
				p = p[min(int(length), len(p)):]
			}
		}
	})
}

// FuzzDial answers a dial into the box with whatever a hostile guest could send. The dial succeeds only on the byte
// for success, and the bytes after it arrive unchanged.
func FuzzDial(f *testing.F) {
	for _, s := range []string{"", "\x00", "\x00hello", "\x01", "\x01hello", "\xff", "HTTP/1.1 200 OK\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		guest, gate, result := serve(t, Config{})
		session, err := yamux.Client(guest, tunnel.Config(tunnel.GuestLinger))
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			hello, err := session.OpenStream()
			if err != nil {
				t.Error(err)
				return
			}
			_ = (tunnel.Header{Service: tunnel.ServiceHello}).Write(hello) // else Ready fails
			st, err := session.AcceptStream()
			if err != nil {
				t.Error(err)
				return
			}
			if h, err := tunnel.ReadHeader(st); err != nil || h != (tunnel.Header{Service: tunnel.ServiceDial, Port: 4096}) {
				t.Errorf("asked %+v, %v", h, err)
			}
			_, _ = st.Write(answer) // the other side closes a refused one
			_ = st.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn, err := gate.Dial(ctx, 4096)
		if good := len(answer) > 0 && answer[0] == tunnel.DialOK; good != (err == nil) {
			t.Errorf("%q: %v", answer, err)
		}
		if err == nil {
			if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Error(err)
			}
			if got, err := io.ReadAll(conn); err != nil || !bytes.Equal(got, answer[1:]) {
				t.Errorf("%q gives %q, %v", answer, got, err)
			}
			_ = conn.Close()
		}
		<-answered
		_ = session.Close()
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// FuzzReportedNames sends the gate names that a hostile guest reports as looked up: their records are printable and
// bounded.
func FuzzReportedNames(f *testing.F) {
	for _, s := range []string{"\x0bexample.com", "\x00\x00", "\xff" + "short", "\x07\x1b[2J.\n\x00", "\x041.in\x03a.b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		var records []Record
		guest, gate, result := serve(t, Config{Record: func(r Record) { records = append(records, r) }})
		session, err := yamux.Client(guest, tunnel.Config(tunnel.GuestLinger))
		if err != nil {
			t.Fatal(err)
		}
		st, err := session.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := (tunnel.Header{Service: tunnel.ServiceNames}).Write(st); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Write(said); err != nil {
			t.Fatal(err)
		}
		_ = st.Close()
		_, _ = io.ReadAll(st) // until the gate has read everything
		_ = session.Close()
		_ = gate.Close()
		if err := <-result; err != nil {
			t.Error(err)
		}
		if len(records) > recordsPerRun+1 || len(records) > len(said) {
			t.Errorf("%d records of %d bytes", len(records), len(said))
		}
		for _, r := range records {
			if r.Kind != KindDenied || printable(r.Name) != r.Name && len(r.Name) > maxText+3 || strings.ContainsAny(r.Name, "\x00\n\x1b") {
				t.Errorf("record %+v", r)
			}
		}
	})
}

// FuzzGuestStream opens a stream into the guest with any bytes: it reaches only the loopback port its header names,
// and the guest ends.
func FuzzGuestStream(f *testing.F) {
	for _, s := range []string{"", "SBX\x01\x05\x00\x00\x01", "SBX\x01\x05\x00\x00\x01GET / HTTP/1.1\r\n\r\n", "SBX\x01\x02\x00\x00\x00", "garbage garbage"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		if len(said) >= tunnel.HeaderSize && said[6] != 0 {
			t.Skip("ports of 256 and above have a listener here only by chance")
		}
		inside, outside := net.Pipe()
		cfg := guest.Config{Broker: listen(t), Proxy: listen(t)}
		var err error
		if cfg.Names, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- guest.Run(t.Context(), inside, cfg) }()
		session, err := yamux.Server(outside, tunnel.Config(tunnel.HostLinger))
		if err != nil {
			t.Fatal(err)
		}
		st, err := session.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = st.Write(said) // the guest may have closed the stream
		_ = st.Close()
		answer, err := io.ReadAll(st)
		if err != nil || len(answer) > 1 || len(answer) == 1 && answer[0] != tunnel.DialFailed {
			t.Errorf("%q: %q, %v", said, answer, err)
		}
		_ = session.Close()
		if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}
