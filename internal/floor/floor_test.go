package floor

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

func TestAFloorIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := New(dir, 1).Take(1); err != nil {
		t.Errorf("a disk that may become nearly full: %v", err)
	}
	err := New(dir, math.MaxInt64/2).Take(1)
	low, ok := errors.AsType[*LowError](err)
	if !ok || low.Free <= 0 || low.Least != math.MaxInt64/2 {
		t.Errorf("a disk that has less than it must keep: %v", err)
	}
	if err := New(dir+"/missing", 1).Take(1); err == nil || errors.As(err, &low) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if err := New(dir, 0).Take(math.MaxInt64); err != nil {
		t.Errorf("a disk that may become full: %v", err)
	}
}

// Whatever is asked for in one piece or in many is refused before it is written.
func TestRoomIsAskedForBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	low, ok := errors.AsType[*LowError](New(t.TempDir(), math.MaxInt64/2).Take(1))
	if !ok {
		t.Fatal("no measure of the free space")
	}
	const room = 1 << 30 // more than other programs of this machine write meanwhile
	if low.Free < 2*room {
		t.Skipf("only %d bytes free", low.Free)
	}
	f := New(t.TempDir(), low.Free-room)
	if err := f.Take(4 * room); err == nil {
		t.Error("four times the room was given")
	}
	var out bytes.Buffer
	w := New(t.TempDir(), math.MaxInt64/2).Writer(&out)
	for range 10 {
		if _, err := w.Write(make([]byte, 1000)); err != nil {
			if out.Len() > block {
				t.Errorf("%d bytes were written below the floor", out.Len())
			}
			return
		}
	}
	t.Error("ten thousand bytes were written below the floor")
}
