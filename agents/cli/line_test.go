package cli

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func readLines(t *testing.T, r io.Reader, limit int) (lines []string) {
	t.Helper()
	in := NewLineReader(r, limit)
	for {
		l, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return lines
		case err != nil:
			t.Fatal(err)
		case l.Dropped > 0:
			lines = append(lines, strings.Repeat("#", int(l.Dropped)))
		default:
			lines = append(lines, string(l.Text))
		}
	}
}

func TestLineReader(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"lines", "one\ntwo\n", []string{"one", "two"}},
		{"last line without its ending", "one\ntwo", []string{"one", "two"}},
		{"empty lines and carriage returns", "\n\r\none\r\n\n", []string{"one"}},
		{"exactly the limit", "12345678\nx\n", []string{"12345678", "x"}},
		{"over the limit, then on", "123456789\nx\n", []string{"##########", "x"}},
		{"over the limit at the end", "x\n1234567890", []string{"x", "##########"}},
		{"invalid UTF-8", "a\xffb\n", []string{"a\uFFFDb"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, readLines(t, strings.NewReader(tc.in), 8)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, readLines(t, iotest.OneByteReader(strings.NewReader(tc.in)), 8)); diff != "" {
				t.Errorf("byte by byte, -want +got:\n%s", diff)
			}
		})
	}
}

func TestLineReaderHoldsNoMoreThanItsLimit(t *testing.T) {
	// Not parallel: it measures allocations.
	const size = 64 << 20
	endless := io.MultiReader(io.LimitReader(endlessLine{}, size), strings.NewReader("\nafter\n"))
	in := NewLineReader(endless, MaxLine)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := in.Next()
	runtime.ReadMemStats(&after)
	if err != nil || l.Dropped != size+1 {
		t.Errorf("dropped %d, %v", l.Dropped, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8*MaxLine {
		t.Errorf("a line of %d bytes allocated %d", size, got)
	}
	if l, err := in.Next(); err != nil || string(l.Text) != "after" {
		t.Errorf("next line = %q, %v", l.Text, err)
	}
}

// endlessLine is a stream without a line ending.
type endlessLine struct{}

func (endlessLine) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzLineReader(f *testing.F) {
	for _, seed := range []string{"", "\n", "one\ntwo", "12345678\n123456789\n", "\r\n\r", "a\xff\xfe\n\xf0\x9f\x98", strings.Repeat("x", 100_000) + "\n{}\n"} {
		f.Add([]byte(seed), 8)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = min(max(limit, 1), 1<<16)
		r := NewLineReader(bytes.NewReader(in), limit)
		var seen int64
		for {
			l, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
			switch {
			case l.Dropped > 0 && l.Text != nil, l.Dropped == 0 && len(l.Text) == 0:
				t.Fatalf("line is neither text nor dropped: %+v", l)
			case !utf8.Valid(l.Text) || bytes.ContainsRune(l.Text, '\n'):
				t.Fatalf("bad text %q", l.Text)
			case l.Dropped > 0 && l.Dropped <= int64(limit):
				t.Fatalf("dropped %d bytes below the limit of %d", l.Dropped, limit)
			case utf8.Valid(in) && len(l.Text) > limit+1:
				t.Fatalf("kept %d bytes above the limit of %d", len(l.Text), limit)
			}
			seen += l.Dropped + int64(len(l.Text))
		}
		if utf8.Valid(in) && seen > int64(len(in)) {
			t.Fatalf("saw %d bytes of %d", seen, len(in))
		}
	})
}

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		writes []string
		want   string
	}{
		{nil, ""},
		{[]string{" a\n"}, "a"},
		{[]string{"12345678"}, "12345678"},
		{[]string{"1234", "56789"}, "…23456789"},
		{[]string{"abc", "123456789"}, "…23456789"},
		{[]string{"1234567\xff", "8"}, "…234567\uFFFD8"},
	} {
		buf := Tail{max: 8}
		for _, w := range tc.writes {
			if n, err := buf.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("write = %d, %v", n, err)
			}
		}
		if got := buf.String(); got != tc.want {
			t.Errorf("%q: kept %q, want %q", tc.writes, got, tc.want)
		}
	}
}
