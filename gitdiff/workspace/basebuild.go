package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/step"
)

// makeBase makes a base under the exclusive lock, unless another runner has made it in the meantime.
func makeBase(ctx context.Context, o *gitdiff.Objects, c gitdiff.Commit, own owner, dir string) (err error) {
	held, err := lock(ctx, dir+".lock", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.unlock()) }()
	if _, err := readBase(dir, c); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	building := dir + ".building"
	for _, old := range []string{building, dir} { // of a runner that died, or of another version
		if err := RemoveTree(old); err != nil {
			return err
		}
	}
	step.Before(StepBaseBuild)
	err = buildBase(ctx, o, c, own, building)
	step.After(StepBaseBuild)
	if err != nil {
		return errors.Join(err, RemoveTree(building))
	}
	step.Before(StepBaseAppear)
	defer step.After(StepBaseAppear)
	return os.Rename(building, dir)
}

// readBase reads the description of a finished base. The error wraps os.ErrNotExist when there is none.
func readBase(dir string, c gitdiff.Commit) (baseInfo, error) {
	var info baseInfo
	text, err := os.ReadFile(filepath.Join(dir, "base.json"))
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return info, fmt.Errorf("%s: %w", dir, err)
	}
	if info.Version != baseVersion {
		return info, fmt.Errorf("%s: version %d: %w", dir, info.Version, os.ErrNotExist)
	}
	if info.Commit != c.ID || info.Tree != c.Tree {
		return info, fmt.Errorf("base of %s with tree %s is not the commit %s with tree %s", info.Commit, info.Tree, c.ID, c.Tree)
	}
	return info, nil
}

// openBase returns the pristine base of a commit for an owner, locked against eviction, and makes it if there is none yet.
// Runners that want the same one wait for the first to make it.
func openBase(ctx context.Context, o *gitdiff.Objects, c gitdiff.Commit, own owner) (*base, error) {
	if _, err := gitobj.ParseID(c.ID); err != nil {
		return nil, err
	}
	parent := filepath.Join(o.Store().Dir(), "bases", o.Key())
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, fmt.Sprintf("%s-%d-%d", c.ID, own.uid, own.gid))
	for {
		held, err := lock(ctx, dir+".lock", true)
		if err != nil {
			return nil, err
		}
		info, err := readBase(dir, c)
		if err == nil {
			return &base{dir: dir, lock: held, baseInfo: info}, held.touch()
		}
		if err := held.unlock(); err != nil {
			return nil, err
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err := makeBase(ctx, o, c, own, dir); err != nil {
			return nil, fmt.Errorf("make base of %s: %w", c.ID, err)
		}
	}
}

// earliest is the oldest modification time of a base's file: zip and other formats know none before 1980.
var earliest = time.Date(1980, time.January, 2, 0, 0, 0, 0, time.UTC)

// baseTime is the modification time of all files of a base: the commit's, moved so far into the past that no index
// written now can be racy against it (git-update-index(1), "racy git").
func baseTime(commit, now time.Time) time.Time {
	t := commit.UTC().Truncate(time.Second)
	if latest := now.UTC().Truncate(time.Second).Add(-time.Hour); t.After(latest) {
		t = latest
	}
	if t.Before(earliest) {
		t = earliest
	}
	return t
}

// buildBase makes a base in the new directory dir: files and pack in one pass over the blobs.
func buildBase(ctx context.Context, o *gitdiff.Objects, c gitdiff.Commit, own owner, dir string) error {
	root, err := gitobj.ParseID(c.Tree)
	if err != nil {
		return err
	}
	l, err := gitobj.List(ctx, o.Storer(), root)
	if err != nil {
		return err
	}
	b := &base{dir: dir, baseInfo: baseInfo{Version: baseVersion, Commit: c.ID, Tree: c.Tree, Files: len(l.Files),
		MTime: baseTime(c.Time, time.Now())}}
	for _, sub := range []string{b.treeDir(), filepath.Join(b.objectsDir(), "pack"), filepath.Join(b.objectsDir(), "info")} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
	}
	if err := readable(filepath.Join(dir, "git"), b.objectsDir(), filepath.Join(b.objectsDir(), "pack"), filepath.Join(b.objectsDir(), "info")); err != nil {
		return err
	}
	pack, err := gitobj.NewPackWriter(filepath.Join(b.objectsDir(), "pack"), packed(l))
	if err != nil {
		return err
	}
	sizes, err := fillBase(ctx, o, b, l, own, pack)
	if err != nil {
		return errors.Join(err, pack.Abandon())
	}
	if err := pack.Finish(); err != nil {
		return err
	}
	b.Bytes += pack.Bytes()
	if err := writeIndex(b.indexFile(), l, sizes, b.MTime); err != nil {
		return err
	}
	return b.seal()
}

// fillBase writes the files, and into the pack everything the private commit reaches. It returns the files' sizes.
func fillBase(ctx context.Context, o *gitdiff.Objects, b *base, l *gitobj.Listing, own owner, pack *gitobj.PackWriter) ([]int64, error) {
	raw, id, err := privateCommit(l.Root, b.MTime)
	if err != nil {
		return nil, err
	}
	b.Private = id.String()
	if err := pack.Add(plumbing.CommitObject, id, raw); err != nil {
		return nil, err
	}
	for _, id := range l.Trees {
		raw, err := gitobj.Content(o.Storer(), plumbing.TreeObject, id, gitobj.MaxTreeBytes)
		if err != nil {
			return nil, err
		}
		if err := pack.Add(plumbing.TreeObject, id, raw); err != nil {
			return nil, err
		}
	}
	sizes := make([]int64, len(l.Files))
	disk := make([]int64, len(l.Files))
	c := &checkout{
		from: o.Storer(), owner: own, pack: pack,
		mtime: func(*gitobj.File) time.Time { return b.MTime },
		wrote: func(i int, st *unix.Stat_t) { sizes[i], disk[i] = st.Size, st.Blocks*512 },
	}
	if err := c.run(ctx, b.treeDir(), l.Files, false); err != nil {
		return nil, err
	}
	for _, n := range disk {
		b.Bytes += n
	}
	return sizes, nil
}

// packed counts the objects of a base's pack: the trees, the distinct blobs, and the private commit.
func packed(l *gitobj.Listing) uint32 {
	blobs := make(map[plumbing.Hash]bool, len(l.Files))
	for i := range l.Files {
		if l.Files[i].Mode != filemode.Submodule {
			blobs[l.Files[i].Hash] = true
		}
	}
	return uint32(len(blobs) + len(l.Trees) + 1)
}

// seal writes base.json after everything else has reached the disk: a base that survives a power cut is whole.
func (b *base) seal() error {
	text, err := json.MarshalIndent(b.baseInfo, "", "  ")
	if err != nil {
		return err
	}
	dir, err := os.Open(b.dir)
	if err != nil {
		return err
	}
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", b.dir, err), dir.Close())
	}
	return errors.Join(os.WriteFile(filepath.Join(b.dir, "base.json"), text, 0o600), dir.Close())
}

// readable opens directories to the box, whatever the runner's umask.
func readable(dirs ...string) error {
	var err error
	for _, dir := range dirs {
		err = errors.Join(err, os.Chmod(dir, 0o755))
	}
	return err
}
