package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
)

// Bounds of merging one file.
const (
	maxMerged = 8 << 20 // bytes of one side
	mergeTime = 20 * time.Second
)

// ErrNoGit is returned by [Merge] on a host without git.
var ErrNoGit = errors.New("git, which merges the lines, is not installed")

// Merge is [Apply] for a working tree that has moved on: where a text file is neither as on the From side nor as on the To
// side, the lines of both changes are merged as git merges them. Files whose changes touch the same lines, and what is no
// text, are a [*ConflictError]; then nothing was written. Merged says which files have lines of both.
//
// "git merge-file" is given three temporary files and nothing else: no repository, no configuration, no attributes.
func Merge(ctx context.Context, r *gitdiff.Repo, o *gitdiff.Objects, d *change.Diff, dryRun bool) (rep Report, err error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return rep, ErrNoGit
	}
	dir, err := os.MkdirTemp("", "sandboxrun-merge-")
	if err != nil {
		return rep, fmt.Errorf("merge: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	do := write
	if dryRun {
		do = leave
	}
	return apply(ctx, r, o, d, &merger{program, dir}, do)
}

// merger merges files in a directory of its own.
type merger struct{ program, dir string }

// merge makes a change of c that goes from what the working tree holds to both changes together; ok is false where
// a person has to decide.
func (a *applier) merge(ctx context.Context, c *change.Change, now state) (merged change.Change, ok bool, err error) {
	mode, ok := mergedMode(c, now)
	if !ok || c.Type != change.Modified {
		return merged, false, nil
	}
	ours, err := a.heldText(c, now)
	if err != nil {
		return merged, false, err
	}
	base, berr := a.text(c.OldID)
	theirs, terr := a.text(c.NewID)
	if err := errors.Join(berr, terr); err != nil {
		return merged, false, err
	}
	if ours == nil || base == nil || theirs == nil {
		return merged, false, nil
	}
	text, ok, err := a.merger.lines(ctx, ours, base, theirs)
	if err != nil || !ok {
		return merged, false, err
	}
	blob := a.storer.NewEncodedObject()
	blob.SetType(plumbing.BlobObject)
	w, err := blob.Writer()
	if err == nil {
		_, err = w.Write(text)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return merged, false, err
	}
	id, err := a.storer.SetEncodedObject(blob)
	if err != nil {
		return merged, false, err
	}
	merged = *c
	merged.OldMode, merged.OldID, merged.NewMode, merged.NewID = now.mode, now.id, mode, id.String()
	return merged, true, nil
}

// mergedMode is the mode after both changes; only regular files are merged.
func mergedMode(c *change.Change, now state) (string, bool) {
	for _, m := range []string{c.OldMode, c.NewMode, now.mode} {
		if m != plainMode && m != programMode {
			return "", false
		}
	}
	if c.NewMode != c.OldMode {
		return c.NewMode, true
	}
	return now.mode, true
}

// text reads a blob; nil when it is too large or no text.
func (a *applier) text(id string) ([]byte, error) {
	blob, err := a.storer.EncodedObject(plumbing.BlobObject, plumbing.NewHash(id))
	if err != nil {
		return nil, err
	}
	if blob.Size() > maxMerged {
		return nil, nil
	}
	r, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readText(r)
}

// heldText reads the file of the working tree that was found in a state; nil when it is too large or no text.
func (a *applier) heldText(c *change.Change, now state) ([]byte, error) {
	dir, err := a.root.parent(c.Name, false)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, path.Base(c.Name), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), c.Name)
	defer f.Close()
	text, err := readText(f)
	if text == nil || err != nil {
		return nil, err
	}
	if plumbing.ComputeHash(plumbing.BlobObject, text).String() != now.id {
		return nil, errChanged
	}
	return text, nil
}

func readText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxMerged+1))
	if err != nil || len(text) > maxMerged || bytes.IndexByte(text, 0) >= 0 {
		return nil, err
	}
	if text == nil {
		text = []byte{}
	}
	return text, nil
}

// lines merges three texts; ok is false when the changes touch the same lines.
func (m *merger) lines(ctx context.Context, ours, base, theirs []byte) (text []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, mergeTime)
	defer cancel()
	args := []string{"merge-file", "-p", "-q"}
	for name, text := range map[string][]byte{"ours": ours, "base": base, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(m.dir, name), text, 0o600); err != nil {
			return nil, false, err
		}
	}
	cmd := exec.CommandContext(ctx, m.program, append(args, "ours", "base", "theirs")...)
	cmd.Dir = m.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=/",
		"GIT_DIR=" + filepath.Join(m.dir, "none"), // a temporary directory inside a repository must not lend it its configuration
	}
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	exit, conflicts := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err == nil:
		return out.Bytes(), true, nil
	case conflicts && exit.ExitCode() > 0 && exit.ExitCode() < 128: // the number of conflicts
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("git merge-file: %w: %.300s", err, complaint.String())
}
