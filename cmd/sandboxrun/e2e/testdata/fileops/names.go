package main

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func rename(from, to string) error { return unix.Rename(from, to) }

func rename2(from, to string, flags uint) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags)
}

func init() {
	operations["rename-file"] = func(say func(...any)) {
		say(rename("f", "h"), text("h"), text("f"), rename("h", "d/x"), text("d/x"), list("."))
	}
	operations["rename-directory"] = func(say func(...any)) { say(rename("d", "moved"), text("moved/x"), list("."), text("d/x")) }
	operations["rename-directory-deeper"] = func(say func(...any)) {
		say(rename("d", "e/d"), list("e"), text("e/d/x"), rename("e", "z"), text("z/d/x"))
	}
	operations["rename-directory-back"] = func(say func(...any)) { say(rename("d", "e/d"), rename("e/d", "d"), text("d/x"), list("e")) }
	operations["rename-directory-over-empty"] = func(say func(...any)) { say(os.Remove("empty/keep"), rename("d", "empty"), list("empty"), list(".")) }
	operations["rename-directory-over-full"] = func(say func(...any)) { say(rename("d", "e"), list("d"), list("e")) }
	operations["rename-directory-over-file"] = func(say func(...any)) { say(rename("d", "f"), rename("f", "d")) }
	operations["rename-directory-into-itself"] = func(say func(...any)) { say(rename("d", "d/d")) }
	operations["rename-directory-then-make-it-anew"] = func(say func(...any)) {
		say(rename("d", "old"), os.Mkdir("d", 0o755), list("d"), os.WriteFile("d/n", []byte("n"), 0o644), list("d"), list("old"))
	}
	operations["rename-directory-while-open"] = func(say func(...any)) {
		d, f := open("d", os.O_RDONLY), open("d/x", os.O_RDWR)
		say(rename("d", "r"))
		_, err := f.WriteString("later")
		say(err, text("r/x"))
		fd, err := unix.Openat(int(d.Fd()), "x", unix.O_RDONLY, 0)
		say(err, unix.Close(fd))
	}
	operations["rename-directory-at-a-long-path"] = func(say func(...any)) { // see the documentation: an overlay keeps 256 bytes
		say(rename("long/"+strings.Repeat("p", 200)+"/"+strings.Repeat("q", 200)+"/d", "d2"))
	}
	operations["rename-new-directory-at-a-long-path"] = func(say func(...any)) {
		path := strings.Repeat("p", 200) + "/" + strings.Repeat("q", 200)
		say(os.MkdirAll(path+"/d", 0o755), rename(path+"/d", "d2"), rename("d2", path+"/d3"), list(path))
	}
	operations["exchange-files"] = func(say func(...any)) { say(rename2("f", "g", unix.RENAME_EXCHANGE), text("f"), text("g")) }
	operations["exchange-directories"] = func(say func(...any)) { say(rename2("d", "e", unix.RENAME_EXCHANGE), list("d"), list("e")) }
	operations["exchange-file-and-directory"] = func(say func(...any)) { say(rename2("f", "d", unix.RENAME_EXCHANGE), text("d"), list("f")) }
	operations["rename-noreplace"] = func(say func(...any)) {
		say(rename2("f", "g", unix.RENAME_NOREPLACE), rename2("f", "h", unix.RENAME_NOREPLACE), list("."))
	}
	operations["remove-and-make-anew"] = func(say func(...any)) {
		say(os.RemoveAll("d"), os.Mkdir("d", 0o755), list("d"), os.Remove("f"), os.WriteFile("f", []byte("anew"), 0o644), text("f"))
	}
	operations["remove-what-is-not-empty"] = func(say func(...any)) { say(unix.Rmdir("d"), unix.Unlink("d") != nil, list("d")) }
	operations["kinds-change"] = func(say func(...any)) {
		say(os.Remove("f"), os.Mkdir("f", 0o755), os.WriteFile("f/in", nil, 0o644), os.RemoveAll("d"), os.Symlink("f", "d"), list("d/."), list("."))
	}
	operations["hard-link"] = func(say func(...any)) {
		say(os.Link("f", "l"), inode("f") == inode("l"), os.WriteFile("l", []byte("both"), 0o644), text("f"), rename("f", "l"), list("."), os.Remove("f"), text("l"))
		var st syscall.Stat_t
		say(syscall.Lstat("l", &st), st.Nlink, os.Link("d", "dl"))
	}
	operations["hard-link-of-written"] = func(say func(...any)) {
		say(os.WriteFile("f", []byte("w"), 0o644), os.Link("f", "l"), os.WriteFile("l", []byte("both"), 0o644), text("f"), inode("f") == inode("l"))
	}
	operations["links"] = func(say func(...any)) {
		say(os.Symlink("loop", "loop"), text("loop"), os.Symlink("f", "s"), text("s"), rename("s", "d/s"), text("d/s"))
		to, err := os.Readlink("d/s")
		say(to, err)
	}
	operations["long-names"] = func(say func(...any)) {
		name := strings.Repeat("n", 255)
		say(os.WriteFile(name, nil, 0o644), os.WriteFile(name+"n", nil, 0o644), os.Remove(name), os.WriteFile(strings.Repeat("é", 127), nil, 0o644))
	}
	operations["deep-names"] = func(say func(...any)) {
		path := strings.Repeat("deep/", 100)
		say(os.MkdirAll(path, 0o755), os.WriteFile(path+"f", []byte("deep"), 0o644), text(path+"f"), os.RemoveAll("deep"), list("."))
	}
	operations["case"] = func(say func(...any)) {
		say(os.WriteFile("F", []byte("upper"), 0o644), text("f"), text("F"), rename("f", "Ff"), rename("Ff", "fF"), list("."))
	}
	operations["odd-names"] = func(say func(...any)) {
		for _, name := range []string{"a b", "new\nline", "-rf", "\xff", "quote\"'", "*", "CON", "back\\slash", "..x", ".hidden", "trail "} {
			say(os.WriteFile(name, nil, 0o644))
		}
		say(len(list(".")))
	}
}
