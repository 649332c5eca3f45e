package excerpt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func newSpool(t *testing.T, quota int64) *Spool {
	t.Helper()
	s, err := NewSpool(filepath.Join(t.TempDir(), "log"), quota, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSpoolKeepsSmallOutputWhole(t *testing.T) {
	t.Parallel()
	s := newSpool(t, MaxLog)
	for _, part := range []string{"a\xffb", "\x1b[31m", "é"} {
		if _, err := s.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := s.Excerpt(), "a\ufffdb\x1b[31mé"; got != want {
		t.Errorf("excerpt %q, want %q", got, want)
	}
	if s.Truncated() || s.total > s.kept {
		t.Error("counts as truncated")
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "a\xffb\x1b[31mé" {
		t.Errorf("log %q", got)
	}
}

// However output is cut into writes, the excerpt is its head, its tail and the
// number of bytes between them.
func TestSpoolExcerptIsHeadAndTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		all := bytes.Repeat([]byte(rapid.StringMatching(`[a-z]{1,40}`).Draw(rt, "unit")), rapid.IntRange(1, 3000).Draw(rt, "times"))
		quota := rapid.Int64Range(0, 60_000).Draw(rt, "quota")
		path := filepath.Join(dir, "log")
		_ = os.Remove(path)
		s, err := NewSpool(path, quota, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 20_000)).Draw(rt, "n")
			if k, err := s.Write(rest[:n]); k != n || err != nil {
				rt.Fatalf("Write = %d, %v", k, err)
			}
			rest = rest[n:]
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		want := string(all)
		if len(all) > excerptHead+excerptTail {
			want = join(string(all[:excerptHead]), string(all[len(all)-excerptTail:]), int64(len(all)-excerptHead-excerptTail))
		}
		if got := s.Excerpt(); got != want {
			rt.Fatalf("excerpt of %d bytes differs (%d, want %d)", len(all), len(got), len(want))
		}
		if s.Truncated() != (len(all) > excerptHead+excerptTail) || s.total != int64(len(all)) {
			rt.Fatalf("truncated %v, %d bytes", s.Truncated(), s.total)
		}
		log, err := os.ReadFile(path)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(log, all[:min(int64(len(all)), quota)]) || (s.total > s.kept) != (int64(len(all)) > quota) {
			rt.Fatalf("log of %d bytes with quota %d", len(log), quota)
		}
	})
}

func TestSpoolHoldsLittleOfAFlood(t *testing.T) {
	t.Parallel()
	s := newSpool(t, 1<<20)
	chunk := bytes.Repeat([]byte("\xe2\x82\xac"), 1000) // cut anywhere, this splits characters
	for range 20_000 {
		if _, err := s.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if held := cap(s.head) + cap(s.tail.buf); held > 3*(excerptHead+excerptTail) {
		t.Errorf("holds %d bytes", held)
	}
	got := s.Excerpt()
	if len(got) > excerptHead+excerptTail+100 || !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
		t.Errorf("excerpt of %d bytes, valid %v", len(got), utf8.ValidString(got))
	}
	fi, err := os.Stat(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if fi.Size() != 1<<20 {
		t.Errorf("log of %d bytes", fi.Size())
	}
}

func TestSpoolOutlivesItsDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	s := &Spool{path: "/dev/full", file: full, quota: MaxLog}
	for range 3 {
		if n, err := s.Write([]byte("hello ")); n != 6 || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if got := s.Excerpt(); got != "hello hello hello " {
		t.Errorf("excerpt %q", got)
	}
	if s.total <= s.kept {
		t.Error("the log counts as whole")
	}
	if err := s.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close = %v, want ENOSPC", err)
	}
}
