package runner

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"sandboxrun/runner/state"
	"sandboxrun/schemas/closed"
)

// FuzzCrashedRun settles a run that died and left any bytes behind. A run with a
// result keeps it; one without a plan never began and goes; one with a plan gets a result of the schema, also where its
// journal is torn; nothing is settled twice.
func FuzzCrashedRun(f *testing.F) {
	plan := []byte(`{"task_id":"t","objective":"o","context":{"repo_root":"/r"}}`)
	event := `{"seq":1,"time":"2026-05-04T11:00:00.123Z","run":"r","phase":"","kind":"run_started","data":{}}` + "\n"
	f.Add(plan, []byte(event), []byte(nil))
	f.Add(plan, []byte(event+event[:20]), []byte(nil))
	f.Add(plan, []byte("\x00\x00\x00\x00\n\n"), []byte(nil))
	f.Add([]byte("{"), []byte(nil), []byte(nil))
	f.Add(plan, []byte(event), []byte(`{"task_id":"t","status":"success","summary":"","git":{},"ended_at":"2026-05-04T11:00:00Z"}`))
	f.Add([]byte(nil), []byte(nil), []byte("[]"))
	f.Fuzz(func(t *testing.T, plan, events, result []byte) {
		st, err := state.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		d, err := st.NewRun()
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"plan.json": plan, "events.ndjson": events, "result.json": result} {
			if len(data) == 0 {
				continue
			}
			if err := os.WriteFile(d.Path(name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Unlock(); err != nil {
			t.Fatal(err)
		}
		r := New(Options{State: st})
		done, err := r.settleRuns(t.Context())
		settled := len(done) == 1
		after, rerr := d.Result()
		switch {
		case len(result) > 0 && (settled || string(after) != string(result)):
			t.Errorf("a run with a result was settled: %q", after)
		case len(result) == 0 && settled != (rerr == nil):
			t.Errorf("settled %v, result %v", settled, rerr)
		case len(plan)+len(result) == 0:
			if _, err := os.Stat(d.Dir()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a run that never began was kept: %v", err)
			}
		case len(result) == 0 && !settled && err == nil:
			t.Error("neither settled nor refused")
		case settled:
			if err := closed.Validate("result", after); err != nil {
				t.Errorf("plan %q: %v", plan, err)
			}
		}
		if again, _ := r.settleRuns(t.Context()); settled && len(again) > 0 { // its error was looked at above
			t.Errorf("settled again: %v", again)
		}
		for range d.Events(t.Context(), 1, false) { //nolint:errcheck // it must end, however
		}
		if _, err := st.List(0); err != nil && errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}
