package document

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	good := map[string]Size{"1": 1, "256m": 256 << 20, "4g": 4 << 30, "2T": 2 << 40, "10K": 10 << 10}
	for text, want := range good {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "m", "0", "-1", "+1", "1.5g", "1 g", "1gb", "1_000", "0x10", "9999999999t", "99999999999999999999", "１"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestSizeSurvivesItsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Size(rapid.Int64Range(1, 1<<50).Draw(t, "size"))
		if rapid.Bool().Draw(t, "round") {
			want = want >> 20 << 20
		}
		if want == 0 {
			return
		}
		if got, err := ParseSize(want.String()); err != nil || got != want {
			t.Fatalf("ParseSize(%q) = %d, %v, want %d", want.String(), got, err, want)
		}
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Size
		if err := json.Unmarshal(raw, &got); err != nil || got != want {
			t.Fatalf("JSON %s = %d, %v, want %d", raw, got, err, want)
		}
	})
}
