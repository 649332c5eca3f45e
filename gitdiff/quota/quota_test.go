package quota_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff/quota"
	"sandboxrun/internal/testenv"
)

// machine is Debian's user mode Linux: a kernel with quotas that runs as a program.
const machine = "linux.uml"

func TestKernelBoundsTreesWithProjectQuotas(t *testing.T) {
	t.Parallel()
	testenv.NeedsTime(t, "boots two kernels")
	kernel, err := exec.LookPath(machine)
	if err != nil {
		t.Skipf("no kernel with quotas: %v (Debian's package user-mode-linux)", err)
	}
	modules, err := filepath.Glob("/usr/lib/uml/modules/*")
	if err != nil || len(modules) != 1 {
		t.Skipf("no modules of %s: %v, %v", machine, modules, err)
	}
	guest := filepath.Join(t.TempDir(), "guest")
	build := exec.Command("go", "build", "-o", guest, "./testdata/guest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the guest: %v\n%s", err, out)
	}
	for kind, format := range map[string][]string{
		"ext4": {"mkfs.ext4", "-q", "-O", "quota,project", "-E", "quotatype=prjquota"},
		"xfs":  {"mkfs.xfs", "-q"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(format[0]); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			disk := filepath.Join(dir, "disk")
			if err := errors.Join(os.WriteFile(disk, nil, 0o600), os.Truncate(disk, 400<<20)); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(format[0], append(format[1:], disk)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", format, err, out)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, kernel, "mem=512M", "uml_dir="+dir, "ubd0="+disk, "rootfstype=hostfs", "rootflags=/", "ro", "init="+guest,
				"con=null", "con0=null,fd:1", "quiet", "FS="+kind, "MODULES="+modules[0])
			run.Env = append(os.Environ(), "TMPDIR="+dir)
			// It consists of several processes; killing the first alone would leave the others.
			run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGKILL) }
			run.WaitDelay = time.Minute // for its other processes to end after the first
			text, err := run.CombinedOutput()
			said := strings.ReplaceAll(string(text), "\r", "")
			if err != nil || strings.Contains(said, "FAIL ") || strings.Count(said, "\nok ") < 13 || !strings.Contains(said, "\nok the guest came to its end\n") {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}

func TestDirectoryWithoutQuotasIsUnchanged(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/dev/shm", "quota") //nolint:usetesting // no tmpfs has project quotas
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := quota.Begin(dir); err == nil || errors.Is(err, unix.ENOENT) {
		t.Errorf("begin: %v", err)
	}
	if err := quota.Limit(dir, quota.Growth{Bytes: 1, Files: 1}); err != nil {
		t.Errorf("limit: %v", err)
	}
	if ended, err := quota.End(dir); ended || err != nil {
		t.Errorf("end: %t, %v", ended, err)
	}
	if most, now, ok := quota.Of(dir); ok {
		t.Errorf("limited to %v, has %v", most, now)
	}
}

func TestEndIgnoresOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Symlink(dir, filepath.Join(dir, "link")), unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link", "fifo", "none"} {
		if ended, err := quota.End(filepath.Join(dir, name)); ended || err != nil {
			t.Errorf("%s: %t, %v", name, ended, err)
		}
	}
}
