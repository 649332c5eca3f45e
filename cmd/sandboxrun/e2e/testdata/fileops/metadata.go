package main

import (
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	operations["mode"] = func(say func(...any)) {
		for _, mode := range []os.FileMode{0o755, 0o600, 0o444} {
			err := os.Chmod("f", mode)
			st, serr := os.Stat("f")
			say(err, serr, st.Mode())
		}
		say(os.WriteFile("f", []byte("read-only"), 0o644), os.Chmod("d", 0o500), os.WriteFile("d/n", nil, 0o644), os.Remove("d/x"), os.Chmod("d", 0o755))
		say(os.Chmod("g", 0o000), text("g"), os.Chmod("g", 0o644))
	}
	operations["owner"] = func(say func(...any)) {
		st, err := os.Stat("f")
		say(err, st.Mode(), os.Chown("f", os.Getuid(), os.Getgid()), os.Chown("f", 0, 0), unix.Access("f", unix.W_OK), unix.Access("d", unix.W_OK|unix.X_OK))
	}
	operations["times"] = func(say func(...any)) {
		at := time.Unix(1_234_567_890, 123_456_789)
		say(os.Chtimes("f", at, at), os.Chtimes("d", at, at))
		f, ferr := os.Stat("f")
		d, derr := os.Stat("d")
		say(ferr, derr, f.ModTime().UnixNano(), d.ModTime().UnixNano())
		say(os.WriteFile("d/x", []byte("now"), 0o644), os.WriteFile("f", []byte("now"), 0o644))
		d, derr = os.Stat("d")
		f, ferr = os.Stat("f")
		say(derr, d.ModTime().Equal(at), ferr, f.ModTime().After(at), os.WriteFile("d/n", nil, 0o644))
		d, derr = os.Stat("d")
		say(derr, d.ModTime().After(at))
	}
	operations["attributes"] = func(say func(...any)) {
		value := make([]byte, 100)
		for _, path := range []string{"f", "d"} {
			say(unix.Setxattr(path, "user.mine", []byte("value"), 0))
			n, err := unix.Getxattr(path, "user.mine", value)
			say(err, string(value[:max(n, 0)]))
			say(unix.Setxattr(path, "user.mine", nil, unix.XATTR_CREATE), unix.Removexattr(path, "user.mine"))
			_, err = unix.Getxattr(path, "user.mine", value)
			say(err)
		}
		say(unix.Setxattr("f", "trusted.overlay.opaque", []byte("y"), 0), unix.Setxattr("f", "security.capability", []byte("x"), 0) != nil)
	}
	operations["numbers-stay"] = func(say func(...any)) { // what make, rsync and editors compare
		before := inode("f")
		say(os.WriteFile("f", []byte("changed"), 0o644), inode("f") == before, os.Chmod("f", 0o755), inode("f") == before)
		before = inode("d")
		say(os.WriteFile("d/n", nil, 0o644), inode("d") == before)
	}
	operations["number-of-a-moved-directory"] = func(say func(...any)) {
		before := inode("d")
		say(rename("d", "r"), inode("r") == before)
	}
	operations["one-device"] = func(say func(...any)) {
		var f, d unix.Stat_t
		say(unix.Stat("f", &f), unix.Stat("d", &d), f.Dev == d.Dev, os.WriteFile("n", nil, 0o644), unix.Stat("n", &d), f.Dev == d.Dev)
	}
	operations["special"] = func(say func(...any)) {
		say(unix.Mkfifo("fifo", 0o644))
		l, err := net.Listen("unix", "socket")
		say(err)
		if err == nil {
			c, err := net.Dial("unix", "socket")
			say(err)
			if err == nil {
				say(c.Close())
			}
			say(l.Close())
		}
		say(os.Remove("fifo"), unix.Mknod("dev", unix.S_IFCHR|0o666, 0x103))
	}
	operations["many"] = func(say func(...any)) {
		for i := range 1000 {
			if err := os.WriteFile("d/n"+word(i), nil, 0o644); err != nil {
				say(err)
			}
		}
		dir := open("d", os.O_RDONLY)
		count := 0
		for {
			names, err := dir.Readdirnames(7)
			for _, name := range names { // while the directory is read
				if os.Remove("d/"+name) == nil {
					count++
				}
			}
			if err != nil {
				break
			}
		}
		say(count, list("d"), unix.Rmdir("d"))
	}
	operations["statfs"] = func(say func(...any)) {
		var s unix.Statfs_t
		say(unix.Statfs(".", &s), s.Bavail > 0, s.Ffree > 0, s.Namelen)
	}
}
