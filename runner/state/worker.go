package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
)

// WorkerVersion is written into worker.json.
const WorkerVersion = 1

// Worker is the process that works, or worked, on a run. Whether it lives is shown by the lock alone; a process that
// is to be signalled must have the same number, start time and boot.
type Worker struct {
	SchemaVersion int    `json:"schema_version"`
	PID           int    `json:"pid"`
	StartTime     uint64 `json:"start_time"` // clock ticks between the boot and the start of the process
	BootID        string `json:"boot_id"`
	Build         string `json:"build"` // of the program, as its pinned file is called

	Detached bool `json:"detached,omitempty"` // the run came from the queue
	Attempt  int  `json:"attempt,omitempty"`  // 1 for a first run, more for repetitions of a run that the machine failed
	// First is the first run of the task where this one repeats it; SupersededBy is the run that repeats this one.
	First        string `json:"first_run,omitempty"`
	SupersededBy string `json:"superseded_by,omitempty"`
	// Compare is the id that runs of one task by several agents share.
	Compare string `json:"compare,omitempty"`
}

// maxWorker bounds worker.json, in bytes.
const maxWorker = 16 << 10

// Mailbox is where other processes speak to the worker.
func (d *RunDir) Mailbox() mailbox.Box { return mailbox.At(d.Dir()) }

func (d *RunDir) workerPath() string { return d.Path("worker.json") }

// WriteWorker records that this process works on the run; the fields that identify the process are filled in.
func (d *RunDir) WriteWorker(w Worker) error {
	w.SchemaVersion, w.PID, w.BootID = WorkerVersion, os.Getpid(), bootID()
	var err error
	if w.StartTime, err = StartTime(w.PID); err != nil {
		return fmt.Errorf("write worker.json: %w", err)
	}
	step.Before(stepWorker)
	defer step.After(stepWorker)
	return d.writeJSON("worker.json", w)
}

// Supersede records the run that repeats this one.
func (d *RunDir) Supersede(by string) error {
	w, err := d.Worker()
	if err != nil {
		return err
	}
	w.SupersededBy = by
	return d.writeJSON("worker.json", w)
}

// Worker reads worker.json; fs.ErrNotExist where the run is of an earlier version.
func (d *RunDir) Worker() (Worker, error) {
	data, err := document.ReadSmall(d.workerPath(), maxWorker)
	if err != nil {
		return Worker{}, fmt.Errorf("read worker.json: %w", err)
	}
	var w Worker
	if err := json.Unmarshal(data, &w); err != nil {
		return Worker{}, fmt.Errorf("read worker.json: %w", err)
	}
	return w, nil
}

// Is reports whether the process of that number is the worker. A number may belong to another process by now.
func (w Worker) Is(pid int) bool {
	started, err := StartTime(pid)
	return err == nil && pid == w.PID && started == w.StartTime && w.BootID != "" && w.BootID == bootID()
}

// ErrOtherProcess says that the worker's process has ended; its number may belong to another one.
var ErrOtherProcess = errors.New("the worker's process has ended")

// Signal sends the worker's process a signal, and no other process.
func (w Worker) Signal(sig syscall.Signal) error {
	// The descriptor stays with the process, so that what is compared is what gets the signal.
	fd, err := unix.PidfdOpen(w.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrOtherProcess
	}
	if err != nil {
		return fmt.Errorf("signal process %d: %w", w.PID, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if !w.Is(w.PID) {
		return ErrOtherProcess
	}
	err = unix.PidfdSendSignal(fd, sig, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrOtherProcess
	}
	if err != nil {
		return fmt.Errorf("signal process %d: %w", w.PID, err)
	}
	return nil
}

// StartTime is when a process began, in clock ticks since the boot.
func StartTime(pid int) (uint64, error) {
	stat, err := document.ReadSmall("/proc/"+strconv.Itoa(pid)+"/stat", 4096)
	if err != nil {
		return 0, err
	}
	// The name in parentheses may hold spaces and parentheses; field 22 counts from its end.
	at := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[max(0, at+1):])
	const afterName = 22 - 3
	if at < 0 || len(fields) <= afterName {
		return 0, fmt.Errorf("process %d: its status cannot be read", pid)
	}
	return strconv.ParseUint(string(fields[afterName]), 10, 64)
}
