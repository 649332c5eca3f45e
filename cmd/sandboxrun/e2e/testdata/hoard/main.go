// Hoard fills the disk with files that are in no directory, in the way that its argument names, and waits.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	files = 8
	size  = 15 << 20 // bytes of each
)

func main() {
	if len(os.Args) < 2 {
		os.Exit(2)
	}
	if os.Args[1] == "decoy" {
		for {
			if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
				break
			}
		}
		time.Sleep(time.Minute)
		return
	}
	for range 40 * len(os.Args[2:]) { // processes before this one, with as many descriptors as they may have
		decoy := exec.Command(os.Args[0], "decoy")
		if err := decoy.Start(); err != nil {
			fmt.Println(err)
		}
	}
	for i := range files {
		hoard(os.Args[1], fmt.Sprint("hoard", i))
	}
	fmt.Println("hoarded", os.Args[1])
	time.Sleep(time.Minute)
}

func hoard(how, name string) {
	if how == "thread" {
		go func() {
			runtime.LockOSThread()
			// From now on this thread has descriptors of its own.
			if err := unix.CloseRange(1000, 1001, unix.CLOSE_RANGE_UNSHARE); err != nil {
				fmt.Println(err)
			}
			fill(name)
			time.Sleep(time.Minute)
		}()
		time.Sleep(100 * time.Millisecond)
		return
	}
	fd := fill(name)
	switch how {
	case "map":
		if _, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
			fmt.Println(err)
		}
	case "pass":
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(fd), nil, 0)
		}
		if err != nil {
			fmt.Println(err)
		}
	default:
		return
	}
	if err := unix.Close(fd); err != nil {
		fmt.Println(err)
	}
}

// fill makes a file and removes its name.
func fill(name string) int {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT, 0o600)
	if err == nil {
		err = unix.Unlink(name)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	block := make([]byte, 1<<20)
	for at := 0; at < size; at += len(block) {
		if _, err := unix.Write(fd, block); err != nil {
			fmt.Println(err)
		}
	}
	return fd
}
