package gitdiff

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
	"github.com/google/renameio/v2"
)

// Store keeps what is made from users' repositories: new git objects, and the pristine bases of workspaces. Everything
// in it belongs to the runner alone (mode 0700).
type Store struct {
	dir string
}

// NewStore returns the store in the directory dir, which is made when it is first needed.
func NewStore(dir string) *Store { return &Store{dir: dir} }

// Dir is the directory of the store.
func (s *Store) Dir() string { return s.dir }

// Objects reads a user's git objects and keeps new ones apart from them, in a bare repository of the store. It is safe
// for concurrent use and must not outlive its [Repo].
type Objects struct {
	in  *Store
	key string // names the user's repository in the store
	dir string // the bare repository: new objects go to dir/objects
	st  *quarantine

	release func() error // closes what was opened for these objects alone; nil for nothing
}

// For returns the objects of r, with a place of their own for new ones.
func (s *Store) For(r *Repo) (*Objects, error) {
	key := repoKey(r)
	dir := filepath.Join(s.dir, "stores", key+".git")
	if err := initBare(dir, r.objects); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return newObjects(s, key, r.objects), nil
}

// newObjects opens the part of a store that belongs to one repository.
func newObjects(in *Store, key string, user *reader) *Objects {
	dir := filepath.Join(in.dir, "stores", key+".git")
	own := filesystem.NewObjectStorageWithOptions(dotgit.New(hiddenAlternates{osfs.New(dir)}), cache.NewObjectLRU(objectCacheBytes/4),
		filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: gitobj.StreamedBytes})
	return &Objects{in: in, key: key, dir: dir, st: &quarantine{user: user, own: own, dir: filepath.Join(dir, "objects")}}
}

// Close releases open files.
func (o *Objects) Close() error {
	err := o.st.Close()
	if o.release != nil {
		err = errors.Join(err, o.release())
	}
	return err
}

// Storer reads objects of the user and of the store; it writes to the store only.
func (o *Objects) Storer() storer.EncodedObjectStorer { return o.st }

// Store returns the store that takes the new objects.
func (o *Objects) Store() *Store { return o.in }

// Key names the user's repository within the store: all its work trees share one key.
func (o *Objects) Key() string { return o.key }

// repoKey names a user's repository: all its work trees share one key.
func repoKey(r *Repo) string {
	sum := sha256.Sum256([]byte(r.commonDir))
	return hex.EncodeToString(sum[:10])
}

// initBare makes dir a bare repository that borrows from the user's objects, unless it is one already. go-git does not
// read the alternates; they make the store a repository that git can check (git --git-dir=… fsck).
func initBare(dir string, user *reader) error {
	for _, sub := range []string{"objects/info", "objects/pack", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	var alternates strings.Builder
	for _, dir := range user.dirs() {
		alternates.WriteString(quotePath(dir) + "\n")
	}
	files := map[string]string{
		"HEAD":                    "ref: refs/heads/main\n",
		"config":                  "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n",
		"objects/info/alternates": alternates.String(),
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		old, err := os.ReadFile(path)
		if err == nil && string(old) == text {
			continue
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := renameio.WriteFile(path, []byte(text), 0o600, renameio.WithTempDir(filepath.Dir(path))); err != nil {
			return err
		}
	}
	return nil
}

// quotePath writes a path as a line of an alternates file.
func quotePath(path string) string {
	if !strings.HasPrefix(path, `"`) && !strings.HasPrefix(path, "#") && !strings.Contains(path, "\n") {
		return path
	}
	return gitfile.Quote(path)
}

// halfAge is how old a file that is being written must be to be of a dead writer.
const halfAge = time.Hour

// Sweep removes the files of git objects that runners left unfinished when they died.
func (s *Store) Sweep() error {
	if err := s.sweepObjects(); err != nil {
		return fmt.Errorf("sweep store: %w", err)
	}
	return nil
}

func (s *Store) sweepObjects() error {
	var halves []string
	var err error
	for _, pattern := range []string{"objects/pack/tmp_*", ".HEAD*", ".config*", "objects/info/.alternates*"} {
		found, gerr := filepath.Glob(filepath.Join(gitfile.QuoteGlob(s.dir), "stores", "*.git", pattern))
		halves, err = append(halves, found...), errors.Join(err, gerr)
	}
	for _, half := range halves {
		info, serr := os.Lstat(half)
		if serr != nil || time.Since(info.ModTime()) < halfAge {
			continue
		}
		if rerr := os.Remove(half); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
