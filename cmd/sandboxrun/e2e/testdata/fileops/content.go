package main

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	operations["append-and-truncate"] = func(say func(...any)) {
		f := open("f", os.O_WRONLY|os.O_APPEND)
		_, err := f.WriteString("more")
		say(err, text("f"), os.Truncate("f", 3), text("f"), os.Truncate("g", 6), text("g"))
	}
	operations["exclusive"] = func(say func(...any)) {
		_, err := os.OpenFile("f", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		say(err)
	}
	operations["mmap"] = func(say func(...any)) {
		f := open("f", os.O_RDWR)
		m, err := unix.Mmap(int(f.Fd()), 0, 2, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		say(err)
		if err == nil {
			m[0] = 'M'
			say(unix.Msync(m, unix.MS_SYNC), text("f"), unix.Munmap(m))
		}
	}
	operations["mmap-private"] = func(say func(...any)) {
		f := open("f", os.O_RDONLY)
		m, err := unix.Mmap(int(f.Fd()), 0, 2, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
		say(err)
		if err == nil {
			m[0] = 'M'
			say(text("f"), unix.Munmap(m))
		}
	}
	operations["mmap-in-two"] = func(say func(...any)) {
		f, g := open("f", os.O_RDWR), open("f", os.O_RDWR)
		m, err := unix.Mmap(int(f.Fd()), 0, 2, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		n, err2 := unix.Mmap(int(g.Fd()), 0, 2, unix.PROT_READ, unix.MAP_SHARED)
		say(err, err2)
		m[0] = 'T'
		say(string(n[:1]))
	}
	operations["reader-sees-a-later-writer"] = func(say func(...any)) {
		r := open("f", os.O_RDONLY)
		say(os.WriteFile("f", []byte("new content"), 0o644))
		b, err := io.ReadAll(r)
		say(string(b), err)
	}
	operations["reader-sees-a-later-writer-again"] = func(say func(...any)) {
		say(os.WriteFile("f", []byte("first"), 0o644))
		r := open("f", os.O_RDONLY)
		say(os.WriteFile("f", []byte("new content"), 0o644))
		b, err := io.ReadAll(r)
		say(string(b), err)
	}
	operations["unlink-while-open"] = func(say func(...any)) {
		f := open("f", os.O_RDWR)
		say(os.Remove("f"))
		_, err := f.WriteString("gone")
		say(err)
		b := make([]byte, 4)
		_, err = f.ReadAt(b, 0)
		var st unix.Stat_t
		say(err, string(b), unix.Fstat(int(f.Fd()), &st), st.Nlink, text("f"), f.Sync())
	}
	operations["rename-over-while-open"] = func(say func(...any)) {
		f := open("g", os.O_RDONLY)
		say(rename("f", "g"))
		b, err := io.ReadAll(f)
		say(string(b), err, text("g"))
	}
	operations["nameless-file"] = func(say func(...any)) {
		fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o644)
		say(err)
		if err == nil {
			_, err = unix.Write(fd, []byte("named later"))
			say(err, unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+word(fd), unix.AT_FDCWD, "named", unix.AT_SYMLINK_FOLLOW), text("named"))
		}
	}
	operations["sparse"] = func(say func(...any)) {
		say(os.Truncate("f", 1<<30))
		var st unix.Stat_t
		say(unix.Stat("f", &st), st.Size, st.Blocks < 100)
		f := open("f", os.O_RDWR)
		_, err := f.WriteAt([]byte("end"), 1<<29)
		say(err, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 1<<29, 4096), os.Remove("f"))
	}
	operations["preallocate"] = func(say func(...any)) {
		f := open("f", os.O_RDWR)
		var st unix.Stat_t
		say(unix.Fallocate(int(f.Fd()), 0, 0, 1<<20), unix.Stat("f", &st), st.Size, st.Blocks >= 2048)
	}
	operations["copy-file-range"] = func(say func(...any)) {
		f, g := open("f", os.O_RDONLY), open("g", os.O_WRONLY|os.O_TRUNC)
		n, err := unix.CopyFileRange(int(f.Fd()), nil, int(g.Fd()), nil, 100, 0)
		say(n, err, text("g"))
	}
	operations["fsync"] = func(say func(...any)) {
		f, d := open("f", os.O_RDWR), open("d", os.O_RDONLY)
		_, err := f.WriteString("kept")
		say(err, f.Sync(), unix.Fdatasync(int(f.Fd())), d.Sync(), unix.Syncfs(int(d.Fd())))
	}
	operations["direct"] = func(say func(...any)) { // what databases ask for
		f, err := os.OpenFile("f", os.O_RDWR|unix.O_DSYNC, 0)
		say(err)
		_, err = f.WriteString("synced")
		say(err, text("f"))
	}
	operations["flock"] = func(say func(...any)) {
		f, g := open("f", os.O_RDONLY), open("f", os.O_RDONLY)
		say(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.Flock(int(g.Fd()), unix.LOCK_EX|unix.LOCK_NB))
		say(unix.Flock(int(f.Fd()), unix.LOCK_UN), unix.Flock(int(g.Fd()), unix.LOCK_SH|unix.LOCK_NB))
	}
	operations["flock-on-a-directory"] = func(say func(...any)) {
		f, g := open("d", os.O_RDONLY), open("d", os.O_RDONLY)
		say(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.Flock(int(g.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	}
	operations["lock-of-a-range"] = func(say func(...any)) {
		f, g := open("f", os.O_RDWR), open("f", os.O_RDWR)
		lock := func(f *os.File, start int64) error {
			return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: start, Len: 1})
		}
		say(lock(f, 0), lock(g, 0), lock(g, 1))
	}
	operations["watch"] = func(say func(...any)) {
		fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		say(err)
		_, err = unix.InotifyAddWatch(fd, "d", unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_MOVED_TO|unix.IN_MODIFY)
		say(err, os.WriteFile("d/n", []byte("n"), 0o644), os.WriteFile("d/x", []byte("changed"), 0o644), rename("d/n", "d/m"), os.Remove("d/m"))
		seen := map[uint32]bool{}
		buf := make([]byte, 4096)
		for range 50 {
			n, _ := unix.Read(fd, buf)
			for at := 0; at+unix.SizeofInotifyEvent <= n; {
				mask, size := uint32(buf[at+4])|uint32(buf[at+5])<<8, int(buf[at+12])
				seen[mask] = true
				at += unix.SizeofInotifyEvent + size
			}
			time.Sleep(2 * time.Millisecond)
		}
		say(seen[unix.IN_CREATE], seen[unix.IN_MODIFY], seen[unix.IN_MOVED_FROM], seen[unix.IN_MOVED_TO], seen[unix.IN_DELETE])
	}
}
