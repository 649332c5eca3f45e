package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// value has characters that each encoding treats in its own way. It is long
// enough to be wrapped by base64 and xxd.
const value = `sk-test/` + `Ab+9"q\w<&>=~` + `0123456789-abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOP%2x?`

func known(t testing.TB) *Redactor {
	t.Helper()
	r := &Redactor{}
	if err := r.Add("KEY", value); err != nil {
		t.Fatal(err)
	}
	return r
}

func wrapped(s string, width int, end string) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + end)
		s = s[width:]
	}
	return b.String() + s
}

func escapedWhole(format string) string {
	var b strings.Builder
	for i := range len(value) {
		fmt.Fprintf(&b, format, value[i])
	}
	return b.String()
}

func quoted(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[1 : len(b)-1])
}

// forms are the ways of writing the value down that must not get through.
func forms(t testing.TB) map[string]string {
	t.Helper()
	v := []byte(value)
	std := base64.StdEncoding.EncodeToString(v)
	out := map[string]string{
		"raw":                     value,
		"base64":                  std,
		"base64 unpadded":         base64.RawStdEncoding.EncodeToString(v),
		"base64 url":              base64.URLEncoding.EncodeToString(v),
		"base64 url unpadded":     base64.RawURLEncoding.EncodeToString(v),
		"base64 in lines":         wrapped(std, 76, "\n"),
		"base64 in mime lines":    wrapped(std, 64, "\r\n"),
		"base64 in lines in JSON": quoted(t, wrapped(std, 76, "\n")),
		"base64 percent-encoded":  url.QueryEscape(std),
		"hex":                     hex.EncodeToString(v),
		"hex upper":               strings.ToUpper(hex.EncodeToString(v)),
		"hex in lines":            wrapped(hex.EncodeToString(v), 60, "\n"),
		"hex bytes":               strings.TrimSpace(fmt.Sprintf("% x", v)),
		"hex colons":              strings.ReplaceAll(fmt.Sprintf("% X", v), " ", ":"),
		"query":                   url.QueryEscape(value),
		"path":                    url.PathEscape(value),
		"percent lower":           escapedWhole("%%%02x"),
		"percent upper":           escapedWhole("%%%02X"),
		"JSON":                    quoted(t, value),
		"JSON in JSON":            quoted(t, quoted(t, value)),
		"JSON in JSON in JSON":    quoted(t, quoted(t, quoted(t, value))),
		"JSON with \\/":           strings.ReplaceAll(quoted(t, value), "/", `\/`),
		"JSON all escaped":        escapedWhole(`\u%04x`),
		"JSON all escaped upper":  escapedWhole(`\u%04X`),
		"backslash x":             escapedWhole(`\x%02x`),
		"Go":                      strconv.Quote(value),
	}
	for shift := 1; shift <= 4; shift++ {
		around := append([]byte(strings.Repeat("u", shift)), append(v, "\nafter"...)...)
		out[fmt.Sprintf("base64 after %d bytes", shift)] = base64.StdEncoding.EncodeToString(around)
	}
	return out
}

// core is the part of a form that would give the value away.
func core(form string) string { return form[len(form)/4 : len(form)-len(form)/4] }

func TestEveryFormIsReplacedByTheNameOfTheValue(t *testing.T) {
	t.Parallel()
	r := known(t)
	for name, form := range forms(t) {
		text := "before " + form + " after"
		got := r.String(text)
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, "[redacted:KEY]") {
			t.Errorf("%s: %q became %q", name, text, got)
		}
		if rest := len(got) - len("before [redacted:KEY] after"); rest > 20 || strings.Contains(got, core(form)) {
			t.Errorf("%s: %d bytes of it are left: %q", name, rest, got)
		}
	}
}

// naive is what one would write first: each piece on its own.
func naive(pieces [][]byte) []byte {
	var out []byte
	for _, p := range pieces {
		out = append(out, bytes.ReplaceAll(p, []byte(value), []byte("[redacted:KEY]"))...)
	}
	return out
}

func TestAValueSplitAtAnyPointIsReplacedLikeAWholeOne(t *testing.T) {
	t.Parallel()
	r := known(t)
	for name, form := range forms(t) {
		text := []byte("before " + form + " after")
		want := r.Bytes(text)
		for cut := range text {
			s := r.Stream()
			got := append([]byte(nil), s.Next(text[:cut])...)
			got = append(got, s.Next(text[cut:])...)
			if got = append(got, s.Rest()...); !bytes.Equal(got, want) {
				t.Fatalf("%s cut at %d: %q, whole: %q", name, cut, got, want)
			}
		}
		s := r.Stream()
		var each []byte
		for i := range text {
			each = append(each, s.Next(text[i:i+1])...)
		}
		if each = append(each, s.Rest()...); !bytes.Equal(each, want) {
			t.Fatalf("%s byte by byte: %q, whole: %q", name, each, want)
		}
	}
}

func TestReplacingPieceByPieceMissesWhatAStreamFinds(t *testing.T) {
	t.Parallel()
	half := len(value) / 2
	pieces := [][]byte{[]byte("x" + value[:half]), []byte(value[half:] + "y")}
	if got := naive(pieces); !bytes.Contains(got, []byte(value)) {
		t.Fatalf("the naive way got it right, so this test shows nothing: %q", got)
	}
	s := known(t).Stream()
	got := append([]byte(nil), s.Next(pieces[0])...)
	got = append(got, s.Next(pieces[1])...)
	if got = append(got, s.Rest()...); string(got) != "x[redacted:KEY]y" {
		t.Errorf("the stream gave %q", got)
	}
}

func TestAStreamHoldsBackNoMoreThanAValueCouldBe(t *testing.T) {
	t.Parallel()
	s := known(t).Stream()
	random := rand.New(rand.NewPCG(1, 2))
	in, out := 0, 0
	for range 2000 {
		n := random.IntN(200)
		piece := []byte(value[:random.IntN(len(value))] + strings.Repeat(`\`, n) + "%" + strings.Repeat(" ", n))
		in += len(piece)
		out += len(s.Next(piece))
		if len(s.held) > 16*len(value) {
			t.Fatalf("%d bytes are held back", len(s.held))
		}
	}
	if out += len(s.Rest()); out != in {
		t.Errorf("%d bytes of %d came out", out, in)
	}
}

func TestTextWithoutAValueIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := known(t)
	for _, text := range []string{"", "\\", "%", "%2", `\u00`, value[:len(value)-1], value[1:], "sk-sk-sk-test/", strings.Repeat(`\`, 99), "100% sure\x00\xff"} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if got := (*Redactor)(nil).String(text); got != text {
			t.Errorf("without values %q became %q", text, got)
		}
	}
}

func TestPlainValuesAreRefused(t *testing.T) {
	t.Parallel()
	r := &Redactor{}
	for _, v := range []string{"", "short-7", "aaaaaaaaaaaaaaaa", "abababababababab"} {
		if err := r.Add("K", v); !errors.Is(err, ErrWeak) {
			t.Errorf("%q: %v", v, err)
		}
	}
	if err := r.Add("K", strings.Repeat("0123456789", 10_000)); !errors.Is(err, ErrLong) {
		t.Errorf("a long one: %v", err)
	}
	if got := r.String("aaaaaaaaaaaaaaaa"); got != "aaaaaaaaaaaaaaaa" {
		t.Errorf("a refused value was replaced: %q", got)
	}
}

func TestWhatIsLearntCountsForStreamsThatHaveBegun(t *testing.T) {
	t.Parallel()
	r := known(t)
	s := r.Stream()
	_ = s.Next([]byte("begun "))
	if err := r.Add("later name!", "another-value-1234"); err != nil {
		t.Fatal(err)
	}
	got := string(s.Next([]byte("another-value-1234 and " + value + ".")))
	if got += string(s.Rest()); got != "[redacted:later_name_] and [redacted:KEY]." {
		t.Errorf("got %q", got)
	}
	if name, at := s.Found(); name != "later name!" || at != int64(len("begun ")) {
		t.Errorf("found %q at %d", name, at)
	}
}

func TestADocumentStaysADocument(t *testing.T) {
	t.Parallel()
	r := known(t)
	hard := "n\"quote\"," + "\"x\":1 end" // where an escape or a quote is its neighbour
	if err := r.Add("HARD", hard); err != nil {
		t.Fatal(err)
	}
	for name, form := range forms(t) {
		doc, err := json.Marshal(map[string]any{"a": "\n" + hard + "\n" + form, form: []any{1, nil, form, "plain \u2028 text"}})
		if err != nil {
			t.Fatal(err)
		}
		got := r.JSON(doc)
		var back map[string]any
		if err := json.Unmarshal(got, &back); err != nil || len(back) != 2 {
			t.Fatalf("%s: %v: %s", name, err, got)
		}
		if bytes.Contains(got, []byte(quoted(t, core(form)))) || bytes.Contains(got, []byte("quote")) || !bytes.Contains(got, []byte("[redacted:KEY]")) {
			t.Errorf("%s: %s", name, got)
		}
	}
	clean := []byte(`{"a" : "\u0041", "b":[1.50]}`)
	if got := r.JSON(clean); &got[0] != &clean[0] {
		t.Errorf("a clean document was written anew: %s", got)
	}
	if got := string(r.JSON([]byte(`no "json ` + value))); got != `no "json [redacted:KEY]` {
		t.Errorf("got %q", got)
	}
}

// TestWhatIsNotFound pins what the package says it does not do.
func TestWhatIsNotFound(t *testing.T) {
	t.Parallel()
	r := known(t)
	backwards := []byte(value)
	for i, j := 0, len(backwards)-1; i < j; i, j = i+1, j-1 {
		backwards[i], backwards[j] = backwards[j], backwards[i]
	}
	for name, text := range map[string]string{
		"reversed": string(backwards), "interleaved": wrapped(value, 1, " "), "in parts": value[:30] + " and " + value[30:],
		"encoded twice": base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString([]byte(value)))),
	} {
		if got := r.String(text); got != text {
			t.Errorf("%s is found after all; say so in the package's words: %q", name, got)
		}
	}
}

func FuzzStreamsAgreeWithTheWhole(f *testing.F) {
	for _, form := range forms(f) {
		f.Add([]byte("x"+form+"y"), uint8(7))
	}
	f.Add([]byte(strings.Repeat(`\`, 40)+"u0073%73"), uint8(1))
	r := known(f)
	if err := r.Add("OTHER", "sk-test/"+"Ab+9"); err != nil { // the beginning of the first
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		want := r.Bytes(text)
		if bytes.Contains(want, []byte(value)) {
			t.Fatalf("the value is still there: %q", want)
		}
		s := r.Stream()
		var got []byte
		for rest := text; len(rest) > 0; {
			n := min(int(step)+1, len(rest))
			got = append(got, s.Next(rest[:n])...)
			rest = rest[n:]
		}
		if got = append(got, s.Rest()...); !bytes.Equal(got, want) {
			t.Fatalf("in steps of %d: %q, whole: %q", step, got, want)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	r := &Redactor{}
	for i := range 4 {
		if err := r.Add("K", fmt.Sprintf("sk-ant-api03-%d-0123456789abcdefghijklmnopqrstuvwxyz", i)); err != nil {
			b.Fatal(err)
		}
	}
	for name, text := range map[string][]byte{
		"log":         bytes.Repeat([]byte("2026-11-21 16:50:14 building package internal/redact with 12 files, ok\n"), 500),
		"backslashes": bytes.Repeat([]byte{'\\'}, 32<<10),
		"prefixes":    bytes.Repeat([]byte("sk-ant-api03-"), 2500),
		"base64":      []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("some text "), 2500))),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			s := r.Stream()
			for b.Loop() {
				s.Next(text)
			}
		})
	}
}
