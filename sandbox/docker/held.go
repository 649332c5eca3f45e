package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

// Bounds of one search for what processes hold.
const (
	heldTime    = 500 * time.Millisecond
	heldThreads = 8192
	heldMaps    = 8 << 20  // bytes of one list of mappings
	heldInfo    = 64 << 10 // bytes of what the kernel says about one descriptor
	// deletedMark ends the name of a deleted file among a process's descriptors
	// (proc_pid_fd(5)).
	deletedMark = " (deleted)"
)

// held finds the deleted files of the tree that processes of the box have open or mapped. Only a runner that may inspect the processes
// finds any.
func (c *counters) held(ctx context.Context, device uint64) holding {
	select {
	case <-c.located:
	default:
		return holding{}
	}
	if c.procs == "" {
		return holding{}
	}
	list, err := os.Open(c.procs)
	if err != nil {
		return holding{}
	}
	defer list.Close()
	limited, cancel := context.WithTimeout(ctx, heldTime)
	defer cancel()
	h := heldFiles{ctx: limited, device: device, seen: map[uint64]bool{}}
	for lines := bufio.NewScanner(list); lines.Scan() && limited.Err() == nil; {
		// A process that has ended holds nothing.
		_ = h.process(filepath.Base(lines.Text()))
	}
	out := holding{sum: h.sum}
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		out.hidden = "it has more open files than can be looked at"
	case h.passed > 0:
		out.hidden = fmt.Sprintf("%d of its open files are on their way between processes", h.passed)
	}
	return out
}

type heldFiles struct {
	ctx    context.Context
	device uint64 // of the tree's own directory on this machine
	sum    usage
	seen   map[uint64]bool // inodes, all of one file system
	passed int64           // descriptors in messages that nobody has received
}

// process adds what a process and its threads hold. A thread can have descriptors of its own.
func (h *heldFiles) process(pid string) error {
	at := filepath.Join("/proc", pid)
	err := errors.Join(h.descriptors(at), h.mappings(at))
	tasks, terr := openDir(filepath.Join(at, "task"))
	if terr != nil {
		return errors.Join(err, terr)
	}
	defer tasks.Close()
	threads, terr := tasks.Readdirnames(heldThreads)
	if errors.Is(terr, io.EOF) {
		terr = nil
	}
	for _, tid := range threads {
		if tid != pid && !sameTable(pid, tid) {
			_ = h.descriptors(filepath.Join(at, "task", tid)) // one that has ended holds nothing
		}
	}
	return errors.Join(err, terr)
}

// sameTable reports whether two threads have the same descriptors (kcmp(2), KCMP_FILES).
func sameTable(a, b string) bool {
	const files = 2
	x, xerr := strconv.Atoi(a)
	y, yerr := strconv.Atoi(b)
	if xerr != nil || yerr != nil {
		return false
	}
	order, _, errno := unix.RawSyscall6(unix.SYS_KCMP, uintptr(x), uintptr(y), files, 0, 0, 0)
	return errno == 0 && order == 0
}

// descriptors adds what the descriptors of a thread hold.
func (h *heldFiles) descriptors(at string) error {
	d, err := openDir(filepath.Join(at, "fd"))
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	defer d.Close()
	for h.ctx.Err() == nil {
		names, err := d.Readdirnames(dirBatch)
		for _, name := range names {
			switch target := linkAt(d, name); {
			case strings.HasPrefix(target, "socket:"):
				h.passed += passing(filepath.Join(at, "fdinfo", name))
			case within(target, sandbox.WorkDir) && strings.HasSuffix(target, deletedMark):
				h.file(d, name, false)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list descriptors: %w", err)
		}
	}
	return nil
}

// mappings adds the files that a process has mapped: it needs no descriptor of them any more.
func (h *heldFiles) mappings(at string) error {
	list, err := os.Open(filepath.Join(at, "maps"))
	if err != nil {
		return err
	}
	defer list.Close()
	d, err := openDir(filepath.Join(at, "map_files"))
	if err != nil {
		return err
	}
	defer d.Close()
	lines := bufio.NewScanner(io.LimitReader(list, heldMaps))
	for lines.Scan() && h.ctx.Err() == nil {
		if addresses, _, _ := strings.Cut(lines.Text(), " "); strings.HasSuffix(lines.Text(), deletedMark) {
			h.file(d, addresses, true)
		}
	}
	return lines.Err()
}

func linkAt(dir *os.File, name string) string {
	var to [unix.PathMax]byte
	n, err := unix.Readlinkat(int(dir.Fd()), name, to[:])
	if err != nil {
		return ""
	}
	return string(to[:n])
}

// file adds the file that a link in /proc leads to. The kernel resolves such a link to the open file itself, whatever its name says. A mapping
// names the file by another path and device than the box does, so that only one of the tree's own device counts: others are in memory.
func (h *heldFiles) file(dir *os.File, name string, mapped bool) {
	var s unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &s, 0); err != nil || s.Nlink > 0 || s.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	if mapped && s.Dev != h.device && !within(linkAt(dir, name), sandbox.WorkDir) {
		return
	}
	if !h.seen[s.Ino] {
		h.seen[s.Ino] = true
		h.sum.bytes += s.Blocks * blockBytes
		h.sum.inodes++
	}
}

// passing counts the descriptors in messages that wait in a socket ("scm_fds" of proc_pid_fdinfo(5), since Linux 5.5).
func passing(path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, heldInfo))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("scm_fds:")); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return n
		}
	}
	return 0
}
