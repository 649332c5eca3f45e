// Package source reads what an image of the user's is built from: a Dockerfile with the directory around it, or the
// devcontainer.json of a repository. It calls no engine.
package source

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// What a build context may hold at most.
const (
	maxContextBytes = 1 << 30
	maxContextFiles = 100_000
	maxContextDepth = 100
	maxIgnoreFile   = 1 << 20
	maxDockerfile   = 1 << 20
)

// Source is what one image is built from.
type Source struct {
	Dir        string // the build context; no file outside of it is read
	Dockerfile string // path below Dir, with slashes
	Target     string // stage to end with; "" means the last one
	Args       map[string]string
}

// LimitError says that a build context is larger than this program sends.
type LimitError struct{ Dir, What string }

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s has %s: leave files out with a .dockerignore, or name a smaller directory", e.Dir, e.What)
}

// file is one entry of a build context.
type file struct {
	name string // below the directory, with slashes
	info fs.FileInfo
}

// Digest identifies the content of s: names, modes and bytes of its files, stage and arguments. It is lower-case
// hexadecimal.
func (s Source) Digest(ctx context.Context) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", s.Dockerfile, s.Target)
	for _, name := range slices.Sorted(maps.Keys(s.Args)) {
		fmt.Fprintf(h, "%q=%q\n", name, s.Args[name])
	}
	if err := s.Write(ctx, h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Write writes the build context as a tar archive, without what its .dockerignore leaves out. The same content gives
// the same bytes. Links are written as links and never followed; sockets, pipes and devices are left out.
func (s Source) Write(ctx context.Context, w io.Writer) error {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return fmt.Errorf("read build context: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	if fi, err := root.Lstat(filepath.FromSlash(s.Dockerfile)); err != nil {
		return fmt.Errorf("read Dockerfile: %w", err)
	} else if !fi.Mode().IsRegular() || fi.Size() > maxDockerfile {
		return fmt.Errorf("%s is no regular file of at most %d bytes", filepath.Join(s.Dir, s.Dockerfile), maxDockerfile)
	}
	files, err := s.list(ctx, root)
	if err != nil {
		return fmt.Errorf("read build context: %w", err)
	}
	archive := tar.NewWriter(w)
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := add(ctx, archive, root, f); err != nil {
			return fmt.Errorf("read build context: %w", err)
		}
	}
	return archive.Close()
}

// list returns the entries that belong to the context, by name.
func (s Source) list(ctx context.Context, root *os.Root) ([]file, error) {
	ignored, err := s.ignored(root)
	if err != nil {
		return nil, err
	}
	var files []file
	var bytes int64
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case name == ".":
			return nil
		case strings.Count(name, "/") > maxContextDepth:
			return &LimitError{s.Dir, fmt.Sprintf("directories more than %d deep", maxContextDepth)}
		}
		leave, err := ignored.MatchesOrParentMatches(name)
		if err != nil {
			return err
		}
		if leave && name != s.Dockerfile && name != ignoreFile {
			if d.IsDir() && !ignored.Exclusions() && !strings.HasPrefix(s.Dockerfile, name+"/") {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if m := info.Mode(); !m.IsRegular() && !m.IsDir() && m&fs.ModeSymlink == 0 {
			return nil
		}
		if info.Mode().IsRegular() {
			bytes += info.Size()
		}
		if files = append(files, file{name, info}); len(files) > maxContextFiles || bytes > maxContextBytes {
			return &LimitError{s.Dir, fmt.Sprintf("more than %d files or %d MB", maxContextFiles, maxContextBytes>>20)}
		}
		return nil
	})
	return files, err
}

const ignoreFile = ".dockerignore"

// ignored reads the rules of the directory; it has none without a .dockerignore.
func (s Source) ignored(root *os.Root) (*patternmatcher.PatternMatcher, error) {
	var rules []string
	fi, err := root.Lstat(ignoreFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular(): // opening a pipe would wait
		return nil, fmt.Errorf("%s is no regular file", ignoreFile)
	default:
		f, err := root.Open(ignoreFile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if rules, err = ignorefile.ReadAll(io.LimitReader(f, maxIgnoreFile)); err != nil {
			return nil, fmt.Errorf("%s: %w", ignoreFile, err)
		}
	}
	m, err := patternmatcher.New(rules)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ignoreFile, err)
	}
	return m, nil
}

// add writes one entry. Times and owners are left out: the same content is the same image.
func add(ctx context.Context, archive *tar.Writer, root *os.Root, f file) error {
	h := &tar.Header{Name: f.name, Mode: int64(f.info.Mode().Perm()), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch m := f.info.Mode(); {
	case m.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, f.name+"/"
		return archive.WriteHeader(h)
	case m&fs.ModeSymlink != 0:
		target, err := root.Readlink(filepath.FromSlash(f.name))
		if err != nil {
			return err
		}
		h.Typeflag, h.Linkname = tar.TypeSymlink, target
		return archive.WriteHeader(h)
	}
	in, err := root.Open(filepath.FromSlash(f.name))
	if err != nil {
		return err
	}
	defer in.Close()
	if fi, err := in.Stat(); err != nil || !os.SameFile(fi, f.info) || fi.Size() != f.info.Size() {
		return errors.Join(err, fmt.Errorf("%s changed while it was read", path.Clean(f.name)))
	}
	h.Typeflag, h.Size = tar.TypeReg, f.info.Size()
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(archive, reader{ctx, in}, h.Size)
	return err
}

// reader hears a signal between two pieces of a large file.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
