package excerpt

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzSpool holds that an excerpt of any output in pieces of any size is valid
// UTF-8 of bounded length, and whole where nothing was left out.
func FuzzSpool(f *testing.F) {
	f.Add([]byte("plain\n"), uint8(3), uint16(1))
	f.Add([]byte("\xff\xc3\x28 ü 世界"), uint8(1), uint16(5000))
	f.Add([]byte("\xf0\x9f\x98\x80"), uint8(7), uint16(9000))
	f.Fuzz(func(t *testing.T, piece []byte, step uint8, times uint16) {
		if len(piece) == 0 || len(piece)*int(times) > 1<<20 {
			t.Skip()
		}
		s, err := NewSpool(filepath.Join(t.TempDir(), "log"), 1<<16, nil)
		if err != nil {
			t.Fatal(err)
		}
		var whole []byte
		for range times {
			for p := piece; len(p) > 0; {
				n := min(max(int(step), 1), len(p))
				if wrote, err := s.Write(p[:n]); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				p = p[n:]
			}
			whole = append(whole, piece...)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		got := s.Excerpt()
		if !utf8.ValidString(got) || len(got) > 3*(excerptHead+excerptTail)+100 {
			t.Errorf("excerpt of %d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if want := strings.ToValidUTF8(string(whole), "\ufffd"); !s.Truncated() && got != want {
			t.Errorf("excerpt %q, want %q", got, want)
		}
		if s.total != int64(len(whole)) || (s.total > s.kept) != (len(whole) > 1<<16) {
			t.Errorf("%d bytes of %d, log truncated %v", s.total, len(whole), (s.total > s.kept))
		}
	})
}

// FuzzPrintable holds that nothing that moves a terminal comes through.
func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"a\tb\n", "\x1b]0;t\x07", "\x1b[2J\r", "\u009b31m", "\u202e\u2028\ufeff", "\xc3\x28", "\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Printable(s)
		bad := strings.IndexFunc(got, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co))
		})
		if bad >= 0 || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\a\b") {
			t.Errorf("%q is shown as %q", s, got)
		}
		if Printable(got) != got {
			t.Errorf("%q does not stay as it is", got)
		}
	})
}
