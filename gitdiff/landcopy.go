package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"golang.org/x/sys/unix"
)

// maxSynced is how many objects are made durable one by one; more are by one sync of their file system, as git does it
// with core.fsyncMethod=batch.
const maxSynced = 200

// copy writes the missing objects into the user's repository as loose objects, each complete or not at all.
func (s *landingSet) copy(ctx context.Context) error {
	objects := filepath.Join(s.repo.commonDir, "objects")
	as, err := likeDir(objects)
	if err != nil {
		return err
	}
	one := len(s.missing) <= maxSynced
	dirs := map[string]bool{}
	for _, o := range s.missing {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hex := o.id.String()
		dir := filepath.Join(objects, hex[:2])
		if err := as.mkdir(dir); err != nil {
			return err
		}
		if err := s.copyObject(o, as, dir, filepath.Join(dir, hex[2:]), one); err != nil {
			return fmt.Errorf("object %s: %w", o.id, err)
		}
		dirs[dir] = true
	}
	if !one {
		return syncFileSystem(objects)
	}
	for dir := range dirs {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return syncDir(objects)
}

// copyObject writes one object beside its place and links it there. The id is computed anew on the way.
func (s *landingSet) copyObject(o landed, as dirLike, dir, path string, sync bool) (err error) {
	obj, err := s.storer.EncodedObject(o.kind, o.id)
	if err != nil {
		return objectError(o.id, err)
	}
	in, err := obj.Reader()
	if err != nil {
		return err
	}
	defer in.Close()
	tmp, err := os.CreateTemp(dir, "tmp_obj_")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(tmp.Name())) }()
	out := objfile.NewWriter(tmp)
	if err = out.WriteHeader(o.kind, obj.Size()); err == nil {
		_, err = io.Copy(out, in)
	}
	if err = errors.Join(err, out.Close()); err == nil && out.Hash() != o.id {
		err = corrupt(o.id)
	}
	if err == nil {
		err = as.own(tmp, 0o444)
	}
	if err == nil && sync {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return linkNew(tmp.Name(), path)
}

// linkNew gives a file a second name; a file of that name, being the same object, is left alone.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// syncFileSystem makes everything written to the file system of dir durable.
func syncFileSystem(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
