package gitobj

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's pack format names itself by SHA-1
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// PackWriter writes whole objects to a new pack, as gitformat-pack(5) describes it. go-git's encoder reads every object
// once more; here the objects pass by anyway, on their way to the checked out tree. It is safe for concurrent use.
type PackWriter struct {
	mu   sync.Mutex
	f    *os.File
	buf  *bufio.Writer
	out  io.Writer // to the file and the checksum
	sum  hash.Hash
	off  uint64
	left uint32 // objects still to come
	idx  idxfile.Writer
}

// Bytes is how long the pack is so far.
func (p *PackWriter) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.off)
}

// NewPackWriter starts a pack of exactly count objects in the directory dir.
func NewPackWriter(dir string, count uint32) (*PackWriter, error) {
	f, err := os.OpenFile(filepath.Join(dir, "tmp_pack"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	p := &PackWriter{f: f, buf: bufio.NewWriterSize(f, 1<<20), sum: sha1.New(), left: count} //nolint:gosec // see the import
	p.out = io.MultiWriter(p.buf, p.sum)
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), count)
	if err := p.idx.OnHeader(count); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := p.out.Write(head); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.off = uint64(len(head))
	return p, nil
}

// Add appends one object whose content is in memory.
func (p *PackWriter) Add(t plumbing.ObjectType, h plumbing.Hash, content []byte) error {
	var entry bytes.Buffer
	entry.Write(packHeader(t, int64(len(content))))
	if err := deflate(&entry, bytes.NewReader(content)); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.out.Write(entry.Bytes()); err != nil {
		return err
	}
	return p.added(h, uint64(entry.Len()), crc32.ChecksumIEEE(entry.Bytes()))
}

// Stream appends one object of size bytes without holding it in memory.
func (p *PackWriter) Stream(t plumbing.ObjectType, h plumbing.Hash, size int64, content io.Reader) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry := &measured{w: p.out}
	if _, err := entry.Write(packHeader(t, size)); err != nil {
		return err
	}
	if err := deflate(entry, content); err != nil {
		return err
	}
	return p.added(h, entry.n, entry.crc)
}

// added records where an object is. The caller holds the lock.
func (p *PackWriter) added(h plumbing.Hash, size uint64, crc uint32) error {
	if p.left == 0 {
		return errors.New("pack: more objects than announced")
	}
	p.left--
	p.idx.Add(h, p.off, crc)
	p.off += size
	return nil
}

// Finish completes the pack and its index and gives both their names.
func (p *PackWriter) Finish() (err error) {
	defer func() { err = errors.Join(err, p.f.Close()) }()
	if p.left != 0 {
		return fmt.Errorf("pack: %d objects fewer than announced", p.left)
	}
	sum := plumbing.Hash(p.sum.Sum(nil))
	if _, err := p.buf.Write(sum[:]); err != nil {
		return err
	}
	if err := p.buf.Flush(); err != nil {
		return err
	}
	if err := p.idx.OnFooter(sum); err != nil {
		return err
	}
	dir := filepath.Dir(p.f.Name())
	name := filepath.Join(dir, "pack-"+sum.String())
	if err := p.writeIndex(name + ".idx"); err != nil {
		return err
	}
	if err := p.f.Chmod(0o444); err != nil {
		return err
	}
	return os.Rename(p.f.Name(), name+".pack")
}

func (p *PackWriter) writeIndex(path string) error {
	idx, err := p.idx.Index()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = idxfile.NewEncoder(w).Encode(idx)
	return errors.Join(err, w.Flush(), f.Chmod(0o444), f.Close())
}

// Abandon closes the unfinished pack; its file goes with its directory.
func (p *PackWriter) Abandon() error { return p.f.Close() }

// packHeader is the type and size in front of an object: four bits of the size, then seven a byte, lowest first.
func packHeader(t plumbing.ObjectType, size int64) []byte {
	b := byte(t)<<4 | byte(size&0x0f)
	var head []byte
	for size >>= 4; size > 0; size >>= 7 {
		head = append(head, b|0x80)
		b = byte(size & 0x7f)
	}
	return append(head, b)
}

// measured counts and checks what passes through it.
type measured struct {
	w   io.Writer
	n   uint64
	crc uint32
}

func (m *measured) Write(b []byte) (int, error) {
	n, err := m.w.Write(b)
	m.n += uint64(n)
	m.crc = crc32.Update(m.crc, crc32.IEEETable, b[:n])
	return n, err
}

// deflaters are kept, as each is most of a megabyte.
var deflaters = sync.Pool{New: func() any {
	w, err := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant of the package
	}
	return w
}}

func deflate(w io.Writer, r io.Reader) error {
	z := deflaters.Get().(*zlib.Writer) //nolint:forcetypeassert // the pool makes nothing else
	defer deflaters.Put(z)
	z.Reset(w)
	_, err := io.Copy(z, r)
	return errors.Join(err, z.Close())
}
