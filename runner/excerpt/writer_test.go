package excerpt

import (
	"bytes"
	"errors"
	"testing"
)

func TestALimitedWriterFailsAtItsLimit(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &LimitedWriter{To: &out, Left: 5}
	if n, err := w.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := w.Write([]byte("def")); !errors.Is(err, errFull) || !w.Full || out.String() != "abc" {
		t.Errorf("%v, %q", err, out.String())
	}
	var cut bytes.Buffer
	c := &CutWriter{To: &cut, Left: 5}
	for range 3 {
		if n, err := c.Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if cut.String() != "abcab" {
		t.Errorf("cut to %q", cut.String())
	}
}
