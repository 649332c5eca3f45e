package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestDecodeBoundsDepth(t *testing.T) {
	t.Parallel()
	var v any
	if err := Decode([]byte(strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth)), &v); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	deep := []byte(strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1))
	if err := Decode(deep, &v); !errors.Is(err, errTooDeep) {
		t.Errorf("over the bound: %v", err)
	}
	if r := raw(deep); r[0] != '"' || !json.Valid(r) {
		t.Errorf("raw of it = %.20s, want a string", r)
	}
}

func TestDepthCountsNoBracketsInStrings(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{`"[[["`: 0, `["\"[[", {}]`: 2, `{"a\\":[1]}`: 2, `]]]`: 0, `"open [[`: 0} {
		if got := Depth([]byte(in)); got != want {
			t.Errorf("depth(%s) = %d, want %d", in, got, want)
		}
	}
}

func TestDecodeReadsAroundAFieldOfAnotherType(t *testing.T) {
	t.Parallel()
	var v struct {
		A int
		B string
	}
	if err := Decode([]byte(`{"a":"text","b":"kept"}`), &v); err != nil || v.B != "kept" {
		t.Errorf("decoded %+v, %v", v, err)
	}
}

func FuzzRawIsAlwaysJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":`, "\x00", `"\ud800"`, strings.Repeat("[", 300)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if out := raw(ValidUTF8(in)); !json.Valid(out) {
			t.Errorf("raw(%q) = %q", in, out)
		}
	})
}
