package stream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"sandboxrun/sandbox"
)

func frame(stream byte, payload []byte) []byte {
	b := []byte{stream, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(b[4:], uint32(len(payload)))
	return append(b, payload...)
}

func TestFramesReachTheirStreams(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var in []byte
		var want [3]bytes.Buffer
		for range rapid.IntRange(0, 10).Draw(t, "frames") {
			stream := rapid.ByteRange(1, 2).Draw(t, "stream")
			payload := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "payload")
			in = append(in, frame(stream, payload)...)
			want[stream].Write(payload)
		}
		cut := rapid.IntRange(0, len(in)).Draw(t, "cut")
		var got [3]bytes.Buffer
		if err := Split(iotest.OneByteReader(bytes.NewReader(in)), &got[1], &got[2]); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
				t.Fatalf("stream %d: %q, want %q", i, got[i].Bytes(), want[i].Bytes())
			}
		}
		// Cut anywhere, the output is a prefix of the whole.
		var part [3]bytes.Buffer
		if err := Split(bytes.NewReader(in[:cut]), &part[1], &part[2]); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		for i := range part {
			if !bytes.HasPrefix(want[i].Bytes(), part[i].Bytes()) {
				t.Fatalf("stream %d: %q is no prefix of %q", i, part[i].Bytes(), want[i].Bytes())
			}
		}
	})
}

func TestRefusesMalformedFrames(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"stream 3":     "\x03\x00\x00\x00\x00\x00\x00\x01x",
		"plain text":   "OCI runtime exec failed",
		"claimed 4GiB": "\x01\x00\x00\x00\xff\xff\xff\xffx",
		"padding":      "\x01\x01\x00\x00\x00\x00\x00\x01x",
	} {
		if err := Split(bytes.NewReader([]byte(in)), io.Discard, io.Discard); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFramesTakeFixedMemory(t *testing.T) {
	in := append([]byte{1, 0, 0, 0}, binary.BigEndian.AppendUint32(nil, maxFrame)...)
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			r := io.MultiReader(bytes.NewReader(in), io.LimitReader(zeros{}, maxFrame))
			if err := Split(r, io.Discard, io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	if got := result.AllocedBytesPerOp(); got > 4*frameBuffer {
		t.Errorf("%d bytes for a frame of %d", got, maxFrame)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReceiverErrorIsNoStreamError(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	var sink *SinkError
	err := Split(bytes.NewReader(frame(1, []byte("x"))), failing{full}, io.Discard)
	if !errors.As(err, &sink) || !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestMeterCountsAllStreamsAndPassesOnWhatFits(t *testing.T) {
	t.Parallel()
	m := Meter{Limit: 10}
	var a, b bytes.Buffer
	if _, err := m.Writer(&a).Write([]byte("1234567")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Writer(nil).Write([]byte("8")); err != nil {
		t.Fatal(err)
	}
	_, err := m.Writer(&b).Write([]byte("9abc"))
	var limit *sandbox.LimitError
	if !errors.As(err, &limit) || limit.Limit != sandbox.LimitOutput || a.String() != "1234567" || b.String() != "9a" {
		t.Errorf("%v, %q, %q", err, a.String(), b.String())
	}
}

func TestTailKeepsTheLastBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tl := Tail{Max: 7}
		var all []byte
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 20)).Draw(t, "writes") {
			if n, err := tl.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			all = append(all, p...)
		}
		if want := all[max(0, len(all)-7):]; !bytes.Equal(tl.kept, want) {
			t.Fatalf("kept %q, want %q", tl.kept, want)
		}
	})
}

func TestTailIsSafeForATerminal(t *testing.T) {
	t.Parallel()
	tl := Tail{Max: 100}
	if _, err := tl.Write([]byte("a\x1b]0;title\x07b\n\xffc\n")); err != nil {
		t.Fatal(err)
	}
	if got := tl.String(); got != "a ]0;title b \ufffdc" {
		t.Errorf("got %q", got)
	}
}
