package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// counter counts from many goroutines.
type counter struct{ n atomic.Int64 }

func (c *counter) add()     { c.n.Add(1) }
func (c *counter) get() int { return int(c.n.Load()) }

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nobody is an unprivileged user without rights over the test's files.
const nobody = 65534

// asNobody makes the rig's invocations run as another user.
func asNobody(t *testing.T, r *rig) {
	t.Helper()
	r.attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	for dir := filepath.Dir(r.state); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
}

// asNobodyWith is asNobody for a user who owns a repository and may use the engine at a socket.
func asNobodyWith(t *testing.T, r *rig, repo *repo, socket string) {
	t.Helper()
	fi, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	asNobody(t, r)
	r.attr.Credential.Groups = []uint32{fi.Sys().(*syscall.Stat_t).Gid}
	for dir := repo.dir; dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	chown(t, repo.dir, nobody)
}
