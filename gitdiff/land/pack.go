package land

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/step"
)

// Names of what a landing leaves in objects/pack of the user's repository while it is under way. Git removes neither:
// "git prune" removes only files that begin with tmp_.
const (
	stagePrefix = "sandboxrun-"
	keepPrefix  = "sandboxrun: landing "
	stageMaxAge = time.Hour // after which a landing that left something behind must be dead
)

// Steps of bringing objects. [Landing.Journal] receives StepStage; its subject is the commit and the branch, as [LandingOf]
// reads them.
var (
	StepStage   = step.Define("land/stage")
	StepObjects = step.Define("land/objects")
	StepObject  = step.Define("land/object")
	StepPublish = step.Define("land/publish")
	StepRelease = step.Define("land/release")
	StepUnstage = step.Define("land/unstage")
)

// landingPack is the new objects of a landing as one pack in the user's repository. Until the branch exists nothing refers
// to them, and a "git gc --prune=now" of the user would delete loose objects at any moment. From a pack that is marked with
// a .keep file gc, repack and prune remove nothing (git-repack(1)); the mark is removed once the branch exists.
type landingPack struct {
	dir    string // objects/pack
	stage  string // a directory in it, where the pack is made
	name   string // of the finished pack, without directory and ending
	commit string
	as     dirLike
}

// packDir is the directory of git's packs.
func packDir(r *gitdiff.Repo) string { return filepath.Join(r.CommonDir(), packPath) }

const packPath = "objects/pack"

// newPack makes the place where the pack of a landing is made.
func (s *landingSet) newPack(commit string) (*landingPack, error) {
	as, err := likeDir(filepath.Join(s.repo.CommonDir(), "objects"))
	if err != nil {
		return nil, err
	}
	if err := gitfile.Dirs(s.repo.CommonDir(), packPath); err != nil {
		return nil, err
	}
	p := &landingPack{dir: packDir(s.repo), commit: commit, as: as}
	if err := as.mkdir(p.dir); err != nil {
		return nil, err
	}
	sweepPacks(p.dir)
	p.stage, err = os.MkdirTemp(p.dir, stagePrefix+commit+"-")
	return p, err
}

// fill writes the objects, and the mark that keeps git from removing them, to a directory that git does not read.
func (s *landingSet) fill(ctx context.Context, p *landingPack) error {
	w, err := gitobj.NewPackWriter(p.stage, uint32(len(s.missing)))
	if err != nil {
		return err
	}
	for _, o := range s.missing {
		if err = context.Cause(ctx); err == nil {
			step.Before(StepObject)
			err = s.packObject(w, o)
			step.After(StepObject)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("object %s: %w", o.id, err), w.Abandon())
		}
	}
	if err := w.Finish(); err != nil {
		return err
	}
	packs, err := filepath.Glob(filepath.Join(gitfile.QuoteGlob(p.stage), "pack-*.pack"))
	if err != nil || len(packs) != 1 {
		return errors.Join(err, fmt.Errorf("%d packs were made", len(packs)))
	}
	p.name = strings.TrimSuffix(filepath.Base(packs[0]), ".pack")
	return os.WriteFile(filepath.Join(p.stage, p.name+".keep"), []byte(keepPrefix+p.commit+"\n"), 0o600)
}

// packObject appends one object; its id is computed anew on the way.
func (s *landingSet) packObject(w *gitobj.PackWriter, o landed) error {
	obj, err := s.storer.EncodedObject(o.kind, o.id)
	if err != nil {
		return gitobj.ReadError(o.id, err)
	}
	in, err := obj.Reader()
	if err != nil {
		return gitobj.ReadError(o.id, err)
	}
	if err := s.floor.Take(obj.Size()); err != nil {
		return errors.Join(err, in.Close())
	}
	sum := plumbing.NewHasher(o.kind, obj.Size())
	err = errors.Join(w.Stream(o.kind, o.id, obj.Size(), io.TeeReader(in, sum)), in.Close())
	if err == nil && sum.Sum() != o.id {
		err = gitobj.Corrupt(o.id)
	}
	return err
}

// packFiles are the endings of the files of a pack, in the order in which they are published: the mark first, the index last.
var packFiles = []string{".keep", ".pack", ".idx"}

// settle makes the files durable and the user's.
func (p *landingPack) settle() error {
	for _, ending := range packFiles {
		f, err := os.Open(filepath.Join(p.stage, p.name+ending))
		if err != nil {
			return err
		}
		if err := errors.Join(p.as.own(f, 0o444), f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// publish moves the pack into git's directory.
func (p *landingPack) publish() error {
	for _, ending := range packFiles {
		step.Before(StepPublish)
		err := os.Rename(filepath.Join(p.stage, p.name+ending), filepath.Join(p.dir, p.name+ending))
		step.After(StepPublish)
		if err != nil {
			return err
		}
	}
	return syncDir(p.dir)
}

// release removes the mark: the branch refers to the objects now.
func (p *landingPack) release() error {
	err := os.Remove(filepath.Join(p.dir, p.name+".keep"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// withdraw removes a pack whose branch could not be made.
func (p *landingPack) withdraw() error { return withdrawPack(p.dir, p.name) }

// withdrawPack removes a pack and its mark as long as it has no index. One that git can read loses the mark only: the
// user may have come to refer to its objects, and git gc removes unreferenced ones.
func withdrawPack(dir, name string) error {
	endings := []string{".pack", ".keep"}
	if _, err := os.Stat(filepath.Join(dir, name+".idx")); err == nil {
		endings = []string{".keep"}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, ending := range endings {
		if err := os.Remove(filepath.Join(dir, name+ending)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// close removes the place where the pack was made.
func (p *landingPack) close() error { return os.RemoveAll(p.stage) }

// clearPack removes what a landing that died left of its pack: the place where it was made, the mark, and a pack without
// its index.
func clearPack(r *gitdiff.Repo, commit string) error {
	stages, err := filepath.Glob(filepath.Join(gitfile.QuoteGlob(packDir(r)), stagePrefix+commit+"-*"))
	if err != nil {
		return err
	}
	for _, stage := range stages {
		err = errors.Join(err, os.RemoveAll(stage))
	}
	marks, gerr := filepath.Glob(filepath.Join(gitfile.QuoteGlob(packDir(r)), "pack-*.keep"))
	err = errors.Join(err, gerr)
	for _, mark := range marks {
		text, rerr := gitfile.ReadIn(packDir(r), filepath.Base(mark), 256)
		if rerr != nil || string(text) != keepPrefix+commit+"\n" {
			continue
		}
		err = errors.Join(err, withdrawPack(packDir(r), strings.TrimSuffix(filepath.Base(mark), ".keep")))
	}
	return err
}

// sweepPacks removes what landings left behind when they died long ago: places where packs were made,
// and marks. git gc removes a pack without a mark and a branch. What cannot be removed does no harm.
func sweepPacks(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		stage, mark := e.IsDir() && strings.HasPrefix(e.Name(), stagePrefix), strings.HasSuffix(e.Name(), ".keep")
		if !stage && !mark {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < stageMaxAge {
			continue
		}
		if stage {
			_ = os.RemoveAll(path) // see above
		} else if text, err := gitfile.ReadIn(dir, e.Name(), 256); err == nil && strings.HasPrefix(string(text), keepPrefix) {
			_ = os.Remove(path) // see above
		}
	}
}
