package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// testRoot is a root directory like a box's: the workspace mounted as an engine would, its binds, and this system's
// programs.
type testRoot struct {
	dir string
	t   testing.TB
}

// mountBox mounts the workspace. It needs to be root.
func mountBox(t testing.TB, w *Workspace) *testRoot {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting an overlay needs root")
	}
	r := &testRoot{t.TempDir(), t}
	m := w.Mount()
	if m.Dir != "" {
		r.mount("workspace", m.Dir, "", unix.MS_BIND, "")
	} else {
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", strings.Join(m.Lower, ":"), m.Upper, m.Work)
		if m.RenameDirs {
			options += ",redirect_dir=on,index=off,metacopy=off"
		} else {
			options += ",userxattr"
		}
		r.mount("workspace", "overlay", "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
	}
	for _, b := range m.Binds {
		r.mount(b.Target, b.Source, "", unix.MS_BIND, "")
		r.remountReadOnly(b.Target)
	}
	r.mount("usr", "/usr", "", unix.MS_BIND, "")
	r.mount("dev", "/dev", "", unix.MS_BIND, "")
	for _, name := range []string{"bin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+name, filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *testRoot) mount(target, source, fstype string, flags uintptr, options string) {
	r.t.Helper()
	path := filepath.Join(r.dir, target)
	if err := os.MkdirAll(path, 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := unix.Mount(source, path, fstype, flags, options); err != nil {
		r.t.Fatalf("mount %s: %v (%s)", target, err, options)
	}
	r.t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			r.t.Error(err)
		}
	})
}

func (r *testRoot) remountReadOnly(target string) {
	r.t.Helper()
	if err := unix.Mount("", filepath.Join(r.dir, target), "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRoot) workspace() string { return filepath.Join(r.dir, "workspace") }

// run runs a command as the box's user in the workspace and returns its output.
func (r *testRoot) run(args ...string) (string, error) {
	own := testBox()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Path, cmd.Err = "/usr/bin/"+args[0], nil
	cmd.Dir = "/workspace"
	cmd.Env = []string{"PATH=/usr/bin", "HOME=/nonexistent", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: r.dir, Credential: &syscall.Credential{Uid: uint32(own.uid), Gid: uint32(own.gid), NoSetGroups: true}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *testRoot) must(args ...string) string {
	r.t.Helper()
	out, err := r.run(args...)
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}
