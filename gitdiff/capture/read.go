package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/sys/unix"
)

// names lists a directory in byte order, stopping at the budget.
func (c *capturer) names(d *directory) ([]string, error) {
	var names []string
	for {
		batch, err := d.f.Readdirnames(1024)
		names = append(names, batch...)
		bytes := 0
		for _, name := range batch {
			bytes += len(name)
		}
		if err := c.count(len(batch), bytes); err != nil {
			return nil, err
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %q: %w", d.path, err)
		}
	}
}

// count counts entries and the bytes of their names.
func (c *capturer) count(entries, bytes int) error {
	if c.named += int64(bytes); c.named > c.Budget.Names {
		return &gitdiff.BudgetError{Code: gitdiff.TooManyFiles, What: "bytes of names", Limit: c.Budget.Names}
	}
	if c.snap.Files += entries; c.snap.Files > c.Budget.Files {
		return &gitdiff.BudgetError{Code: gitdiff.TooManyFiles, What: "files", Limit: int64(c.Budget.Files)}
	}
	return nil
}

// countDir counts a directory.
func (c *capturer) countDir() error {
	if c.dirs++; c.dirs > c.Budget.Dirs {
		return &gitdiff.BudgetError{Code: gitdiff.TooManyFiles, What: "directories", Limit: int64(c.Budget.Dirs)}
	}
	return nil
}

// subdirectory captures a directory. One that holds nothing git can hold is not an entry.
func (c *capturer) subdirectory(ctx context.Context, at place) (*object.TreeEntry, error) {
	f, err := c.open(at, unix.O_DIRECTORY)
	if f == nil {
		return at.kept(), err
	}
	var base, lower plumbing.Hash
	if at.tracked() {
		base = at.old.Hash
	}
	if e := at.dir.lower[at.name]; e.Mode == filemode.Dir {
		lower = e.Hash
	}
	child := &directory{f: f, above: at.dir, path: at.path, depth: at.dir.depth + 1, rules: at.dir.rules}
	entries, err := c.walk(ctx, child, base, lower)
	if err != nil {
		return nil, err
	}
	return c.subtree(at, entries, base)
}

// subtree is the entry of a directory that holds those entries; known is a tree that is there already, which they may be.
func (c *capturer) subtree(at place, entries []object.TreeEntry, known plumbing.Hash) (*object.TreeEntry, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	if err := c.floor.Take(0); err != nil {
		return nil, err
	}
	id, err := gitobj.WriteTree(c.storer, entries, known)
	if err != nil {
		return nil, fmt.Errorf("directory %q: %w", at.path, err)
	}
	return &object.TreeEntry{Name: at.name, Mode: filemode.Dir, Hash: id}, nil
}

// submodule keeps the recorded link of a submodule and reports what else is at its place.
func (c *capturer) submodule(at place) (*object.TreeEntry, error) {
	if at.kind() != unix.S_IFDIR {
		c.find(gitdiff.SubmoduleTouched, at.path, "replaced")
		return at.kept(), nil
	}
	f, err := c.open(at, unix.O_DIRECTORY)
	if f == nil {
		return at.kept(), err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err == nil {
		c.find(gitdiff.SubmoduleTouched, at.path, "not empty")
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("list %q: %w", at.path, err)
	}
	return at.kept(), nil
}

// link captures the text of a symbolic link.
func (c *capturer) link(at place) (*object.TreeEntry, error) {
	if gitname.IsDotGitmodules(at.name) {
		c.leftOut(at.path, "a link git refuses to read")
		return nil, nil
	}
	text := make([]byte, gitdiff.MaxPath+2)
	n, err := unix.Readlinkat(int(at.dir.f.Fd()), at.name, text)
	if err != nil {
		return nil, fmt.Errorf("%w: read link %q: %w", gitdiff.ErrTreeUnstable, at.path, err)
	}
	text = text[:n]
	if err := c.floor.Take(int64(n)); err != nil {
		return nil, err
	}
	id, err := c.blobs.Write(bytes.NewReader(text), int64(n), at.old.Hash)
	if err != nil {
		return nil, fmt.Errorf("link %q: %w", at.path, err)
	}
	return &object.TreeEntry{Name: at.name, Mode: filemode.Symlink, Hash: id}, nil
}

// file captures a regular file: its bytes as they are, its mode as git knows it.
func (c *capturer) file(at place) (*object.TreeEntry, error) {
	if at.had && c.Stat.untouched(at.path, &at.st) {
		return at.kept(), nil
	}
	if at.st.Size > c.Budget.FileBytes {
		c.find(gitdiff.FileTooLarge, at.path, fmt.Sprintf("%d bytes", at.st.Size))
		return at.kept(), nil
	}
	if c.snap.Bytes += at.st.Size; c.snap.Bytes > c.Budget.TotalBytes {
		return nil, &gitdiff.BudgetError{Code: gitdiff.TotalTooLarge, What: "bytes", Limit: c.Budget.TotalBytes}
	}
	f, err := c.open(at, 0)
	if f == nil {
		return at.kept(), err
	}
	defer f.Close()
	if c.Marks != NoMarks && at.st.Size == 0 {
		if gone, err := c.Marks.overlayWhiteout(f); gone || err != nil {
			return nil, err
		}
	}
	id, err := c.blob(f, at)
	if err != nil {
		return nil, err
	}
	c.modeDropped(at)
	e := &object.TreeEntry{Name: at.name, Mode: filemode.Regular, Hash: id}
	if at.st.Mode&0o100 != 0 {
		e.Mode = filemode.Executable
	}
	return e, nil
}

// blob stores the content of an open file and proves that it was one content: nothing was written meanwhile.
func (c *capturer) blob(f *os.File, at place) (plumbing.Hash, error) {
	before, err := fstat(f)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var known plumbing.Hash
	if at.tracked() {
		known = at.old.Hash
	}
	if err := c.floor.Take(before.Size); err != nil {
		return plumbing.ZeroHash, err
	}
	id, err := c.blobs.Write(f, before.Size, known)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("file %q: %w", at.path, err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return plumbing.ZeroHash, fmt.Errorf("%w: %q grew", gitdiff.ErrTreeUnstable, at.path)
	}
	after, err := fstat(f)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if after.Size != before.Size || after.Mtim != before.Mtim || after.Ctim != before.Ctim {
		return plumbing.ZeroHash, fmt.Errorf("%w: %q was written", gitdiff.ErrTreeUnstable, at.path)
	}
	return id, nil
}
