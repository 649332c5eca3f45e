package workspace

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // git's index format ends with a SHA-1
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"

	"sandboxrun/gitdiff/gitobj"
)

// writeIndex writes the index of a tree whose files all have the modification time mtime and the given sizes, in version
// 2 of gitformat-index(5). go-git's encoder writes every field by reflection and sorts what is sorted.
//
// Device, inode, owner and change time are left zero: with core.checkStat=minimal and core.trustctime=false git compares
// only the modification time and the size, which a copy and an overlay keep.
func writeIndex(path string, l *gitobj.Listing, sizes []int64, mtime time.Time) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(f, 1<<20)
	sum := sha1.New() //nolint:gosec // see the import
	out := io.MultiWriter(buf, sum)
	err = encodeIndex(out, l, sizes, mtime)
	if err == nil {
		_, err = buf.Write(sum.Sum(nil))
	}
	return errors.Join(err, buf.Flush(), f.Close())
}

func encodeIndex(w io.Writer, l *gitobj.Listing, sizes []int64, mtime time.Time) error {
	entry := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(l.Files)))
	if _, err := w.Write(entry); err != nil {
		return err
	}
	for i := range l.Files {
		f := &l.Files[i]
		entry = entry[:0]
		for _, field := range [...]uint32{
			0, 0, // change time
			uint32(mtime.Unix()), 0, // modification time: seconds, nanoseconds
			0, 0, // device, inode
			uint32(f.Mode),
			0, 0, // user, group
			uint32(sizes[i]), // modulo 2^32, as git does
		} {
			entry = binary.BigEndian.AppendUint32(entry, field)
		}
		entry = append(entry, f.Hash[:]...)
		entry = binary.BigEndian.AppendUint16(entry, uint16(min(len(f.Path), 0xfff)))
		entry = append(entry, f.Path...)
		entry = append(entry, make([]byte, 8-len(entry)%8)...)
		if _, err := w.Write(entry); err != nil {
			return err
		}
	}
	return nil
}
