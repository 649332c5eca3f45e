package tail

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// watch is the kernel's report of changed files (inotify).
type watch struct {
	file    *os.File
	changed func(path string)
	done    chan struct{}

	mu    sync.Mutex
	paths map[int32]string
	wds   map[string]int32
}

// newWatch is nil where the kernel offers none: its instances are bounded a user.
func newWatch(changed func(path string)) *watch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &watch{file: os.NewFile(uintptr(fd), "inotify"), changed: changed, done: make(chan struct{}), paths: map[int32]string{}, wds: map[string]int32{}}
	go w.run()
	return w
}

// add reports whether the file is watched.
func (w *watch) add(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	raw, err := w.file.SyscallConn()
	if err != nil {
		return false
	}
	wd := -1
	if cerr := raw.Control(func(fd uintptr) { wd, err = unix.InotifyAddWatch(int(fd), path, unix.IN_MODIFY|unix.IN_DONT_FOLLOW) }); cerr != nil || err != nil {
		return false
	}
	w.paths[int32(wd)], w.wds[path] = path, int32(wd)
	return true
}

func (w *watch) remove(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wd, ok := w.wds[path]
	if !ok {
		return
	}
	delete(w.wds, path)
	delete(w.paths, wd)
	if raw, err := w.file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(wd)) }) // gone with the file
	}
}

func (w *watch) run() {
	defer close(w.done)
	buf := make([]byte, 64*(unix.SizeofInotifyEvent+unix.NAME_MAX+1))
	for {
		n, err := w.file.Read(buf)
		if err != nil {
			return // closed
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			var e unix.InotifyEvent
			if binary.Read(bytes.NewReader(rest), binary.NativeEndian, &e) != nil {
				break
			}
			rest = rest[min(len(rest), unix.SizeofInotifyEvent+int(e.Len)):]
			w.mu.Lock()
			path := w.paths[e.Wd]
			w.mu.Unlock()
			if path != "" {
				w.changed(path)
			}
		}
	}
}

func (w *watch) close() error {
	err := w.file.Close()
	<-w.done
	return err
}
