package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// selfTestLine is one line of doctor's document.
type selfTestLine struct {
	Name    string `json:"name"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func TestTheSelfTestAttacksThisMachineAndLeavesNothing(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	temp := t.TempDir()
	rig.env = append(rig.env, "TMPDIR="+temp)
	began := time.Now()
	o := rig.run(nil, "doctor", "--self-test", "--json")
	t.Logf("the self-test took %.1f s", time.Since(began).Seconds())
	var doc struct {
		OK     bool           `json:"ok"`
		Checks []selfTestLine `json:"checks"`
	}
	if err := json.Unmarshal(o.stdout, &doc); err != nil {
		t.Fatalf("exit %d: %v\n%s", o.exit, err, o.stderr)
	}
	held := 0
	for _, c := range doc.Checks {
		if !strings.HasPrefix(c.Name, "attack ") {
			continue
		}
		switch c.Level {
		case "PASS":
			held++
		default:
			t.Errorf("%s %s: %s", c.Level, c.Name, c.Message)
		}
	}
	if held < 10 || !doc.OK || o.exit != 0 {
		t.Errorf("exit %d, ok %v, %d attacks held\n%s", o.exit, doc.OK, held, o.stdout)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	if runs, err := os.ReadDir(filepath.Join(rig.state, "runs")); err == nil && len(runs) != 0 {
		t.Errorf("the self-test left %d runs in the user's state", len(runs))
	}
}

func TestSelfTestNeedsAnImage(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	rig.config["box"] = map[string]any{"image": "sandboxrun-no-such-image"}
	o := rig.run(nil, "doctor", "--self-test")
	if o.exit != 5 || !strings.Contains(string(o.stdout), "self-test") || strings.Contains(string(o.stdout), "held") {
		t.Errorf("exit %d\n%s", o.exit, o.stdout)
	}
}
