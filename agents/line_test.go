package agents

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
	in := newLineReader(r, limit)
	for {
		l, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return lines
		case err != nil:
			t.Fatal(err)
		case l.dropped > 0:
			lines = append(lines, strings.Repeat("#", int(l.dropped)))
		default:
			lines = append(lines, string(l.text))
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
	in := newLineReader(endless, maxLine)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := in.next()
	runtime.ReadMemStats(&after)
	if err != nil || l.dropped != size+1 {
		t.Errorf("dropped %d, %v", l.dropped, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8*maxLine {
		t.Errorf("a line of %d bytes allocated %d", size, got)
	}
	if l, err := in.next(); err != nil || string(l.text) != "after" {
		t.Errorf("next line = %q, %v", l.text, err)
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
		r := newLineReader(bytes.NewReader(in), limit)
		var seen int64
		for {
			l, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
			switch {
			case l.dropped > 0 && l.text != nil, l.dropped == 0 && len(l.text) == 0:
				t.Fatalf("line is neither text nor dropped: %+v", l)
			case !utf8.Valid(l.text) || bytes.ContainsRune(l.text, '\n'):
				t.Fatalf("bad text %q", l.text)
			case l.dropped > 0 && l.dropped <= int64(limit):
				t.Fatalf("dropped %d bytes below the limit of %d", l.dropped, limit)
			case utf8.Valid(in) && len(l.text) > limit+1:
				t.Fatalf("kept %d bytes above the limit of %d", len(l.text), limit)
			}
			seen += l.dropped + int64(len(l.text))
		}
		if utf8.Valid(in) && seen > int64(len(in)) {
			t.Fatalf("saw %d bytes of %d", seen, len(in))
		}
	})
}
