package state

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
)

func TestAWorkerIsKnownByNumberStartAndBoot(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	id := NewID()
	d, err := st.NewRunAs(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.NewRunAs(id); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an id was given twice: %v", err)
	}
	if live, err := d.Live(); err != nil || !live {
		t.Errorf("a refused second run changed the first: live %v, %v", live, err)
	}
	if _, err := st.NewRunAs("../" + id); err == nil {
		t.Error("a path was taken for an id")
	}
	if err := d.WriteWorker(Worker{Build: "b", Detached: true, Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	w, err := d.Worker()
	if err != nil || !w.Is(os.Getpid()) || w.Is(os.Getppid()) {
		t.Errorf("worker %+v, %v", w, err)
	}
	for name, other := range map[string]func(*Worker){
		"start": func(w *Worker) { w.StartTime++ },
		"boot":  func(w *Worker) { w.BootID = "another" },
		"none":  func(w *Worker) { w.BootID = "" },
	} {
		changed := w
		if other(&changed); changed.Is(os.Getpid()) {
			t.Errorf("%s: this process was taken for another one", name)
		}
	}
	if err := d.Supersede(NewID()); err != nil {
		t.Error(err)
	}
	if again, err := d.Worker(); err != nil || again.SupersededBy == "" || again.Build != "b" {
		t.Errorf("worker %+v, %v", again, err)
	}
	fi, err := os.Stat(d.workerPath())
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("worker.json has mode %v, %v", fi.Mode(), err)
	}
	if err := d.Discard(); err != nil {
		t.Error(err)
	}
	if _, err := st.Run(id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed run is found: %v", err)
	}
}

func TestStartTimeSurvivesAHostileName(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep here")
	}
	odd := t.TempDir() + "/a) R 1 (b"
	body, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(odd, body, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), odd, "60")
	if err := c.Start(); err != nil {
		t.Skipf("this sleep does not run under another name: %v", err)
	}
	defer func() { _ = c.Wait() }()
	defer func() { _ = c.Process.Kill() }()
	mine, err1 := StartTime(os.Getpid())
	its, err2 := StartTime(c.Process.Pid)
	if err := errors.Join(err1, err2); err != nil || its < mine || its-mine > 100*60 {
		t.Errorf("this process began at %d, its child at %d, %v", mine, its, err)
	}
}
