package e2e

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sandboxrun/runner/document"
)

// smallDisk mounts a file system of its own, which the test's end removes.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill uses up the space of a file system.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// spend uses up the inodes of a file system.
func spend(t *testing.T, dir string) {
	t.Helper()
	var err error
	for i := 0; err == nil; i++ {
		err = os.Mkdir(filepath.Join(dir, "spent-"+strconv.Itoa(i)), 0o700)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func TestARepositoryOnAFullDiskGetsNoHalfBranch(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{
		"no bytes":  "size=1m,mode=0755",
		"no inodes": "size=64m,nr_inodes=100,mode=0755",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig := newRig(t)
			repo := &repo{t: t, dir: filepath.Join(smallDisk(t, options), "repo")}
			if err := os.Mkdir(repo.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			repo.git("init", "-q", "-b", "main", "--template=")
			repo.write(sample)
			repo.must("add -A", "commit -q -m base")
			before := fingerprint(t, repo.dir)
			if name == "no inodes" {
				spend(t, filepath.Dir(repo.dir))
			}
			res, o := rig.execute(repo.task("for i in $(seq 200); do head -c 20000 /dev/urandom > big$i; done"))
			if o.exit != 6 || res.Status != document.StatusPartial || res.Git.Branch != "" || !hasCode(res, "disk_limit") || hasCode(res, document.CodeRunnerError) {
				t.Errorf("exit %d, %s, %+v, issues %+v", o.exit, res.Status, res.Git, res.Issues)
			}
			if fi, err := os.Stat(res.Git.Patch); err != nil || fi.Size() < 1<<20 {
				t.Errorf("the work is lost: %v", err)
			}
			after := fingerprint(t, repo.dir)
			for name := range after {
				if after[name] != before[name] {
					t.Errorf("changed in the repository: %s", name)
				}
			}
			repo.whole()
		})
	}
}

func TestFullTemporaryDirectoryDoesNoHarm(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	tmp := smallDisk(t, "size=64k,mode=1777")
	fill(t, tmp)
	rig.env = append(rig.env, "TMPDIR="+tmp)
	res, o := rig.execute(repo.task("echo x > x.txt", "head -c 3000000 /dev/urandom > big"))
	if o.exit != 0 || res.Git.Branch == "" {
		t.Errorf("exit %d, %s, issues %+v", o.exit, res.Status, res.Issues)
	}
}

// What a box left is stored, listed and landed only as long as the disks keep the free space that the user asked for.
func TestTheDiskKeepsItsFreeSpaceAfterTheBox(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	rig, repo := newRig(t), newRepo(t, sample)
	disk := smallDisk(t, "size=260m,mode=0755")
	rig.state = filepath.Join(disk, "state")
	rig.env = append(rig.env, "SANDBOXRUN_STATE_DIR="+rig.state)
	if err := os.Mkdir(rig.state, 0o700); err != nil {
		t.Fatal(err)
	}
	rig.config["limits"] = map[string]any{"free_disk": "100m"}
	least := int64(math.MaxInt64)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var s syscall.Statfs_t
			if err := syscall.Statfs(disk, &s); err == nil {
				least = min(least, int64(s.Bavail)*s.Bsize)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	res, o := rig.execute(repo.task("for i in 1 2 3; do head -c 40000000 /dev/urandom > big$i; done"))
	close(done)
	watch.Wait()
	if o.exit != 6 || !hasCode(res, "disk_limit") || res.Git.Branch != "" || !res.Box.Cleanup.Complete {
		t.Errorf("exit %d, %s, issues %+v", o.exit, res.Status, res.Issues)
	}
	if least < 100*mib {
		t.Errorf("the disk had only %d MiB free at one time", least/mib)
	}
}

func TestDiskFullBeforeTheRunIsReported(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.state = filepath.Join(smallDisk(t, "size=256k,mode=0755"), "state")
	rig.env = append(rig.env, "SANDBOXRUN_STATE_DIR="+rig.state)
	if err := os.Mkdir(rig.state, 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Dir(rig.state))
	o := rig.run(marshal(t, repo.task("true")), "execute", "--quiet", "-")
	var doc struct {
		Status string `json:"status"`
		Error  struct{ Type, Message string }
	}
	decode(t, o.stdout, &doc)
	if o.exit != 1 && o.exit != 6 || doc.Status == "success" || !strings.Contains(string(o.stdout), "no space left") {
		t.Errorf("exit %d: %s", o.exit, o.stdout)
	}
}
