package docker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

const (
	// maxHeldLooks bounds how many descriptors one pass inspects.
	maxHeldLooks = 100_000
	// deletedMark ends the name of a deleted file among a process's descriptors
	// (proc_pid_fd(5)).
	deletedMark = " (deleted)"
)

// held sums the deleted files of the tree that processes of the box hold open: they occupy the disk and are in no
// directory. Only a runner that may inspect the processes finds any; for others the sum is zero.
func (c *counters) held() usage {
	select {
	case <-c.located:
	default:
		return usage{}
	}
	if c.procs == "" {
		return usage{}
	}
	list, err := os.Open(c.procs)
	if err != nil {
		return usage{}
	}
	defer list.Close()
	h := heldFiles{seen: map[[2]uint64]bool{}}
	for lines := bufio.NewScanner(list); lines.Scan() && h.looks < maxHeldLooks; {
		// A process that has ended holds nothing.
		_ = h.process(filepath.Join("/proc", filepath.Base(lines.Text()), "fd"))
	}
	return h.sum
}

type heldFiles struct {
	sum   usage
	seen  map[[2]uint64]bool // device and inode
	looks int
}

// process adds what one process holds, by the directory of its descriptors.
func (h *heldFiles) process(dir string) error {
	d, err := openDir(dir)
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(dirBatch)
		for _, name := range names {
			if h.looks++; h.looks > maxHeldLooks {
				return nil
			}
			h.file(d, name)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list descriptors: %w", err)
		}
	}
}

// file adds one descriptor's file. The kernel resolves the link to the open file itself, whatever its name says.
func (h *heldFiles) file(dir *os.File, name string) {
	var to [unix.PathMax]byte
	n, err := unix.Readlinkat(int(dir.Fd()), name, to[:])
	if target := string(to[:max(0, n)]); err != nil || !within(target, sandbox.WorkDir) || !strings.HasSuffix(target, deletedMark) {
		return
	}
	var s unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &s, 0); err != nil || s.Nlink > 0 || s.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	if id := [2]uint64{s.Dev, s.Ino}; !h.seen[id] {
		h.seen[id] = true
		h.sum.bytes += s.Blocks * blockBytes
		h.sum.inodes++
	}
}
