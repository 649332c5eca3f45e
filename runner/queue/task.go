package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"sandboxrun/internal/publish"
	"sandboxrun/runner/document"
)

// claimed is what a task id stands for.
type claimed struct {
	SchemaVersion int    `json:"schema_version"`
	TaskID        string `json:"task_id"`
	RunID         string `json:"run_id"`
	Task          string `json:"task_sha256"` // of the task in canonical form, with its overrides
}

// maxClaim bounds the file of a task id, in bytes.
const maxClaim = 4 << 10

func (q Queue) claimPath(taskID string) string {
	sum := sha256.Sum256([]byte(taskID))
	return filepath.Join(q.tasks(), hex.EncodeToString(sum[:]))
}

// digest identifies a task and its overrides, however the document is written.
func (e Entry) digest() (string, error) {
	over, err := json.Marshal(e.Overrides)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00", e.RepoRoot)
	for _, part := range [][]byte{e.Task, over} {
		text := jsontext.Value(append([]byte{}, part...))
		if err := text.Canonicalize(); err != nil {
			return "", err
		}
		h.Write(text)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Known returns the run that the task id of e stands for already; "" where it is free. The error is *ReusedError where
// it stands for another task.
func (q Queue) Known(ctx context.Context, e Entry) (run string, err error) {
	if e.TaskID == "" {
		return "", nil
	}
	queueLock, err := q.lockQueue(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, queueLock.Close()) }()
	return q.known(e)
}

// known returns the run that the task id of e stands for already; "" where it is free. It holds for the same task
// only.
func (q Queue) known(e Entry) (string, error) {
	path := q.claimPath(e.TaskID)
	var c claimed
	data, err := document.ReadSmall(path, maxClaim)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return "", fmt.Errorf("task id %q: %w", e.TaskID, err)
	}
	sum, err := e.digest()
	if err != nil {
		return "", fmt.Errorf("task id %q: %w", e.TaskID, err)
	}
	there, err := q.exists(c.RunID)
	switch {
	case err != nil:
		return "", err
	case there && c.Task == sum:
		return c.RunID, nil
	case there:
		return "", &ReusedError{TaskID: e.TaskID, RunID: c.RunID}
	}
	if _, err := os.Lstat(q.half(c.RunID)); err == nil {
		return "", q.drop(c.RunID) // whoever sent it first died before it was accepted
	}
	if c.Task != sum {
		return "", &ReusedError{TaskID: e.TaskID, RunID: c.RunID}
	}
	return "", &ReusedError{TaskID: e.TaskID, RunID: c.RunID, Forgotten: true}
}

// exists reports whether a run waits or has a directory.
func (q Queue) exists(run string) (bool, error) {
	if _, err := os.Lstat(q.path(run)); err == nil {
		return true, nil
	}
	_, err := q.st.Run(run)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// claim makes the task id of e stand for its run.
func (q Queue) claim(e Entry) error {
	sum, err := e.digest()
	if err != nil {
		return err
	}
	data, err := document.Encode(claimed{SchemaVersion: Version, TaskID: e.TaskID, RunID: e.RunID, Task: sum})
	if err != nil {
		return err
	}
	return publish.File(q.claimPath(e.TaskID), data)
}

// release frees the task id that the entry in a file claims, if it stands for that run.
func (q Queue) release(run, file string) error {
	data, err := document.ReadSmall(file, MaxEntry)
	var e Entry
	if err != nil || json.Unmarshal(data, &e) != nil || e.TaskID == "" {
		return nil //nolint:nilerr // without a whole entry nothing was claimed
	}
	path := q.claimPath(e.TaskID)
	var c claimed
	if data, err = document.ReadSmall(path, maxClaim); err != nil || json.Unmarshal(data, &c) != nil || c.RunID != run {
		return nil //nolint:nilerr // it stands for another run, or for none
	}
	return os.Remove(path)
}
