package review

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

const (
	// maxSections bounds the parts of one patch; a change has no more paths, and each is at most two parts.
	maxSections = 400_000
	// maxHead bounds the lines of a part before its hunks, in bytes; names are in it twice or three times.
	maxHead = 64 << 10
	// maxSection bounds the part of one path that is read as lines, in bytes: two texts of the size that is compared.
	maxSection = 40 << 20
	// maxKept bounds the patches whose parts are remembered.
	maxKept = 8
)

// section is the part of a patch about one path.
type section struct {
	offset, size int64
	name         string // raw path after the change, or before a deletion
	binary       bool
	head         *gitdiff.File
}

// patchIndex says where in a patch each path is.
type patchIndex struct {
	size     int64
	changed  time.Time
	sections []section
	byName   map[string]int // the first section of a path
}

// Indexes remembers where in patches their paths are. It is safe for concurrent use.
type Indexes struct {
	mu    sync.Mutex
	kept  map[string]*patchIndex
	order []string // of use, the oldest first
}

// of returns the index of a patch file, which never changes once it is there.
func (x *Indexes) of(f *os.File) (*patchIndex, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	known := x.kept[f.Name()]
	x.mu.Unlock()
	if known != nil && known.size == fi.Size() && known.changed.Equal(fi.ModTime()) {
		return known, nil
	}
	index, err := readIndex(f, fi.Size())
	if err != nil {
		return nil, err
	}
	index.changed = fi.ModTime()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kept == nil {
		x.kept = map[string]*patchIndex{}
	}
	if x.kept[f.Name()] == nil {
		x.order = append(x.order, f.Name())
	}
	x.kept[f.Name()] = index
	if len(x.order) > maxKept {
		delete(x.kept, x.order[0])
		x.order = x.order[1:]
	}
	return index, nil
}

var sectionStart = []byte("diff --git ")

// readIndex finds the parts of a patch. Lines of a file's content begin with a sign or, in binary parts, hold no space,
// so that none of them looks like the beginning of a part.
func readIndex(f io.ReaderAt, size int64) (*patchIndex, error) {
	index := &patchIndex{size: size, byName: map[string]int{}}
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 256<<10)
	at, whole := int64(0), true
	for {
		line, err := in.ReadSlice('\n')
		if whole && bytes.HasPrefix(line, sectionStart) {
			if n := len(index.sections); n > 0 {
				index.sections[n-1].size = at - index.sections[n-1].offset
			}
			if len(index.sections) == maxSections {
				return nil, fmt.Errorf("the patch has more than %d parts", maxSections)
			}
			index.sections = append(index.sections, section{offset: at})
		}
		at += int64(len(line))
		whole = err == nil
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
	if n := len(index.sections); n > 0 {
		index.sections[n-1].size = at - index.sections[n-1].offset
	}
	for i := range index.sections {
		if err := index.sections[i].readHead(f); err != nil {
			return nil, fmt.Errorf("part %d of the patch: %w", i, err)
		}
		if name := index.sections[i].name; index.byName[name] == 0 && (i == 0 || index.sections[0].name != name) {
			index.byName[name] = i
		}
	}
	return index, nil
}

// readHead reads what a part says before its hunks.
func (s *section) readHead(f io.ReaderAt) error {
	buf := make([]byte, min(s.size, maxHead))
	if _, err := f.ReadAt(buf, s.offset); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head, binary, _ := bytes.Cut(buf, []byte("\nGIT binary patch\n"))
	s.binary = len(binary) > 0
	head, _, _ = bytes.Cut(head, []byte("\n@@ "))
	// Names of a part with hunks stand once more before them, which the parser would take for a part that was cut off.
	if i := bytes.Index(head, []byte("\n--- ")); i >= 0 {
		head = head[:i]
	}
	files, _, err := gitdiff.Parse(strings.NewReader(string(head) + "\n"))
	if err != nil || len(files) != 1 {
		return errors.Join(errors.New("its head cannot be read"), err)
	}
	s.head = files[0]
	s.name = s.head.NewName
	if s.head.IsDelete || s.name == "" {
		s.name = s.head.OldName
	}
	return nil
}

// lines reads the hunks of a part.
func (s *section) lines(f io.ReaderAt) ([]*gitdiff.TextFragment, error) {
	files, _, err := gitdiff.Parse(io.NewSectionReader(f, s.offset, s.size))
	if err != nil || len(files) != 1 {
		return nil, errors.Join(errors.New("a part of the patch cannot be read"), err)
	}
	return files[0].TextFragments, nil
}
