package pi_test

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/sandbox"
)

// An image is in several frames of the turn, each of them longer than the text
// of any file.
func TestReadsAnImageAsLargeAsTheyGet(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 2000, 2000))
	noise := rand.NewChaCha8([32]byte{})
	if _, err := noise.Read(picture.Pix); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	j := newJob(t, map[string]string{"noise.png": b.String()},
		agentstest.Uses(modelserver.Tool("read", map[string]string{"path": sandbox.WorkDir + "/noise.png"})), modelserver.Step{Text: "done"})
	o := j.MustRun()
	if got := j.Statuses(); o.End != agents.EndClean || got[agents.StatusOK] != 1 {
		t.Errorf("outcome = %+v, results %v", o, got)
	}
	for _, e := range j.Host.Events {
		if e.Kind == agents.KindTruncated {
			t.Logf("left out: %+v", e.Data)
		}
	}
}
