package dirty

import (
	"bufio"
	"errors"
	"io/fs"
	"strings"
	"time"

	"sandboxrun/gitdiff/gitfile"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"golang.org/x/sys/unix"
)

// maxIndex bounds an index file in bytes.
const maxIndex = 1 << 30

// clockGrain is more than the steps in which file systems advance their clocks: one tick of the kernel.
const clockGrain = 20 * time.Millisecond

// merged is the stage of an entry without a conflict. (go-git's constant of that name is 1, the stage of an ancestor.)
const merged index.Stage = 0

// workIndex is the index of a work tree, for looking up.
type workIndex struct {
	entries map[string]*index.Entry
	dirs    map[string]bool // directories that hold entries
	written time.Time
}

// readIndex reads the index of a git directory. One that is missing is empty; one of an unsupported format is unknown.
func readIndex(gitDir string) (*workIndex, error) {
	w := &workIndex{entries: map[string]*index.Entry{}, dirs: map[string]bool{}}
	f, err := gitfile.Open(gitDir, "index")
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if errors.Is(err, gitfile.ErrUnsafe) {
		return nil, &unknown{err.Error()}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxIndex {
		return nil, &unknown{"its index is larger than what is read"}
	}
	var idx index.Index
	if err := index.NewDecoder(bufio.NewReaderSize(f, 1<<20)).Decode(&idx); err != nil {
		return nil, &unknown{"its index cannot be read (" + err.Error() + "); split and sparse ones are not supported"}
	}
	w.written = info.ModTime()
	for _, e := range idx.Entries {
		if e.Mode == filemode.Dir {
			return nil, &unknown{"its index is sparse"}
		}
		w.entries[e.Name] = e // of a conflict any side will do: it is not the file's state
		for dir := e.Name; ; {
			i := strings.LastIndexByte(dir, '/')
			if i < 0 || w.dirs[dir[:i]] {
				break
			}
			dir = dir[:i]
			w.dirs[dir] = true
		}
	}
	return w, nil
}

// untouched reports whether a file must still be what the entry records, by the rules of git: same size and time, and
// that time older than the index, as a change in the same instant would not show. See racy-git in git's technical docs.
func (w *workIndex) untouched(e *index.Entry, st *unix.Stat_t) bool {
	if e.Stage != merged || e.IntentToAdd || e.Size != uint32(st.Size) || modeOf(st) != gitobj.FileMode(e.Mode) {
		return false
	}
	mtime, grain := time.Unix(st.Mtim.Unix()), clockGrain
	if e.ModifiedAt.Nanosecond() == 0 {
		mtime, grain = mtime.Truncate(time.Second), time.Second
	}
	return mtime.Equal(e.ModifiedAt) && mtime.Add(grain).Before(w.written)
}

// modeOf is the mode a file has in a tree; zero for what is no file or link.
func modeOf(st *unix.Stat_t) filemode.FileMode {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return filemode.Symlink
	case unix.S_IFREG:
		if st.Mode&0o100 != 0 {
			return filemode.Executable
		}
		return filemode.Regular
	}
	return filemode.Empty
}
