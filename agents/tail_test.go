package agents

import "testing"

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
		buf := tail{max: 8}
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
