package stream

import (
	"bytes"
	"testing"
	"testing/iotest"

	"github.com/docker/docker/pkg/stdcopy"
)

// FuzzFrames compares Split with the reader of the engine's own client: where both accept a stream they agree on every
// byte, Split accepts nothing the other refuses, and pieces of any size make no difference.
func FuzzFrames(f *testing.F) {
	f.Add(append(frame(1, []byte("out")), frame(2, []byte("err"))...))
	f.Add(frame(3, []byte("the engine's own error")))
	f.Add([]byte("OCI runtime exec failed"))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 'x'})
	f.Add(append(frame(0, nil), 2, 0, 0, 0, 0))
	f.Add([]byte{1, 0, 0, 1, 0, 0, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, in []byte) {
		var out, errs, pieceOut, pieceErrs bytes.Buffer
		err := Split(bytes.NewReader(in), &out, &errs)
		perr := Split(iotest.OneByteReader(bytes.NewReader(in)), &pieceOut, &pieceErrs)
		if (err == nil) != (perr == nil) || out.String() != pieceOut.String() || errs.String() != pieceErrs.String() {
			t.Fatalf("whole: %v, %q, %q; in pieces: %v, %q, %q", err, &out, &errs, perr, &pieceOut, &pieceErrs)
		}
		if out.Len()+errs.Len() > len(in) {
			t.Fatalf("%d bytes out of %d", out.Len()+errs.Len(), len(in))
		}
		if err != nil {
			return
		}
		var theirOut, theirErrs bytes.Buffer
		if _, err := stdcopy.StdCopy(&theirOut, &theirErrs, bytes.NewReader(in)); err != nil {
			t.Fatalf("accepted, but the engine's client refuses it: %v", err)
		}
		if out.String() != theirOut.String() || errs.String() != theirErrs.String() {
			t.Fatalf("%q, %q; the engine's client has %q, %q", &out, &errs, &theirOut, &theirErrs)
		}
	})
}
