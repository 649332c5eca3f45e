package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/workspace"
)

// recorder keeps what a child sends.
type recorder struct{ bytes.Buffer }

// FuzzAnswers feeds the runner's side anything in place of a child's answers: it always ends, and what it takes for complete is
// what the two trees are.
func FuzzAnswers(f *testing.F) {
	s := newSite(f, workspace.LayoutCopy, baseFiles, edit(f))
	w := s.work(f, nil)
	gitdifftest.Must(f, os.WriteFile(w.Patch, []byte("patch"), 0o600))
	honest := answersOf(f, w)
	f.Add(honest)
	for cut := range 12 {
		f.Add(honest[:len(honest)*cut/12])
	}
	for _, add := range [][]byte{frame('z', `{}`), frame('e', `{"text":"x","cause":"budget"}`), frame('c', `{"tree":""}`), frame('d', `[{}]`), frame('f', `[]`), {0xff, 0xff}} {
		f.Add(add)
		f.Add(append(bytes.Clone(honest[:len(honest)/2]), add...))
	}
	f.Fuzz(func(t *testing.T, answers []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		taker := &taker{work: &w}
		err := taker.all(ctx, bytes.NewReader(answers))
		got := taker.out
		switch {
		case ctx.Err() != nil:
			t.Fatal("it does not end")
		case err == nil && (got.Snapshot == nil || got.Diff == nil || got.Inspection == nil):
			t.Fatalf("incomplete without an error: %+v", got)
		case err == nil && len(got.Diff.Changes) > 0 && (got.Leaks == nil || !got.Leaks.Known && !got.Patched):
			t.Fatalf("a change that was not searched, or has no patch: %+v", got)
		case got.Leaks != nil && (got.Leaks.Known || len(got.Leaks.Places) > 0) && !got.Leaks.Found:
			t.Fatalf("found and not found: %+v", got.Leaks)
		}
		if got.Snapshot == nil {
			return
		}
		if err := s.Objects.CheckTree(got.Snapshot.Tree); err != nil {
			t.Fatal(err)
		}
		if got.Diff != nil && got.Diff.To != got.Snapshot.Tree {
			t.Fatalf("tree %s, change of %s", got.Snapshot.Tree, got.Diff.To)
		}
	})
}

func frame(k kind, text string) []byte {
	var b recorder
	if err := send(&b, k, json.RawMessage(text)); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// answersOf records what a child answers, with a patch of five bytes.
func answersOf(t testing.TB, w Work) []byte {
	t.Helper()
	w.Patch = filepath.Join(t.TempDir(), "patch")
	o := w.order(DefaultLimits())
	var err error
	var b recorder
	c := &child{order: &o, out: &b}
	c.patch, err = os.Create(w.Patch)
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, errors.Join(c.work(t.Context()), send(&b, kindDone, struct{}{})))
	out := b.Bytes()
	at := bytes.Index(out, []byte{byte(kindPatched), 0, 0, 0})
	return append(append(bytes.Clone(out[:at]), frame(kindPatched, `{"bytes":5}`)...), frame(kindDone, `{}`)...)
}

// FuzzOrders feeds a child's side anything in place of its order.
func FuzzOrders(f *testing.F) {
	s := newSite(f, workspace.LayoutCopy, baseFiles, edit(f))
	w := s.work(f, map[string]string{"key": "not-a-real-key-0123456789"})
	var b recorder
	gitdifftest.Must(f, send(&b, kindOrder, w.order(DefaultLimits())))
	f.Add(b.Bytes()[headerBytes:])
	f.Add([]byte(`{"place":{}} x`))
	f.Add([]byte(`{"unknown":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var o order
		if decode(text, &o) != nil || o.Capture == nil {
			return
		}
		if src, err := o.Capture.Source(nil); err == nil && src.Root != o.Capture.Root {
			t.Fatalf("root %q", src.Root)
		}
	})
}
