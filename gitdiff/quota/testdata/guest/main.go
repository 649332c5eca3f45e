// Guest is the first process of a small virtual machine whose kernel has project quotas. It tries them on the file
// system of its disk and prints one line for each result: "ok …" or "FAIL …".
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const user = 10001

func main() {
	if len(os.Args) > 2 && os.Args[1] == "work" {
		work(os.Args[2:])
		return
	}
	err := prepare(os.Getenv("FS"), os.Getenv("MODULES"))
	if err == nil {
		for _, layout := range []string{"overlay", "copy"} {
			if err = try(layout); err != nil {
				break
			}
		}
	}
	say("the guest came to its end", err)
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func say(what string, err error) {
	if err != nil {
		fmt.Printf("FAIL %s: %v\n", what, err)
		return
	}
	fmt.Println("ok " + what)
}

// prepare mounts what the checks need; the root is the host's and read-only.
func prepare(kind, modules string) error {
	err := errors.Join(unix.Mount("proc", "/proc", "proc", 0, ""), unix.Mount("tmp", "/tmp", "tmpfs", 0, ""))
	for _, name := range []string{"quota/quota_tree", "quota/quota_v2", "overlayfs/overlay"} {
		f, oerr := os.Open(filepath.Join(modules, "kernel/fs", name+".ko"))
		if oerr != nil {
			return oerr
		}
		err = errors.Join(err, unix.FinitModule(int(f.Fd()), "", 0), f.Close())
	}
	for _, dir := range []string{"/tmp/disk", "/tmp/merged", "/tmp/home"} {
		err = errors.Join(err, os.Mkdir(dir, 0o755))
	}
	return errors.Join(err, os.Setenv("HOME", "/tmp/home"), unix.Mount("/dev/ubda", "/tmp/disk", kind, 0, "prjquota"))
}

// work is the part of a box: its own user, its own process.
func work(args []string) {
	dir := args[1]
	var err error
	switch args[0] {
	case "bytes": // until the kernel refuses
		var f *os.File
		if f, err = os.Create(filepath.Join(dir, "flood")); err == nil {
			written, n := 0, 0
			for err == nil && written < 64<<20 {
				n, err = f.Write(make([]byte, 1<<16))
				written += n
			}
			fmt.Println(written)
		}
	case "files":
		n := 0
		for ; err == nil && n < 3000; n++ {
			err = os.Mkdir(filepath.Join(dir, fmt.Sprint("d", n)), 0o755)
		}
		fmt.Println(n - 1)
	case "ordinary": // operations of every tool, which quotas must not hinder
		at := func(name string) string { return filepath.Join(dir, name) }
		err = errors.Join(os.Rename(at("README.md"), at("moved.md")), os.Link(at("sum.sh"), at("linked.sh")), os.Mkdir(at("sub"), 0o755),
			os.Rename(at("old.txt"), at("sub/old.txt")), os.Symlink("x", at("link")), os.Rename(at("link"), at("sub/link")),
			os.WriteFile(at("sum.sh"), []byte("other\n"), 0o644), os.Rename(at(".git/HEAD"), at("sub/HEAD")))
		fmt.Println(0)
	}
	if errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.ENOSPC) {
		os.Exit(3)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// box runs work as the user of a box.
func box(args ...string) (n, exit int, err error) {
	c := exec.Command("/proc/self/exe", append([]string{"work"}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := c.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 0, 0, err
	}
	if _, serr := fmt.Sscan(string(out), &n); serr != nil {
		return 0, 0, fmt.Errorf("%s", strings.TrimSpace(string(out)))
	}
	return n, c.ProcessState.ExitCode(), nil
}
