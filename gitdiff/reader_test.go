package gitdiff

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff/gitdifftest"
)

// git names a pack by the objects it holds, so housekeeping can bring back a name that it has just removed.
func TestObjectsAreReadAfterPacksChangedAndChangedBack(t *testing.T) {
	t.Parallel()
	repo := gitdifftest.New(t)
	var blobs []string
	for _, text := range []string{"one\n", "two\n", "three\n", "four\n"} {
		blobs = append(blobs, repo.Blob(text))
	}
	objects := t.TempDir()
	packs, aside := filepath.Join(objects, "pack"), t.TempDir()
	gitdifftest.Must(t, os.Mkdir(packs, 0o755))
	pack := func(dir string, ids ...string) {
		t.Helper()
		cmd := exec.Command("git", "-C", repo.Dir, "pack-objects", "-q", filepath.Join(dir, "pack"))
		cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
		gitdifftest.Must(t, cmd.Run())
	}
	pack(packs, blobs[0])
	pack(packs, blobs[1])
	pack(aside, blobs[0], blobs[2])
	pack(aside, blobs[1], blobs[3])
	exchange := func() {
		t.Helper()
		other := t.TempDir()
		for _, move := range [][2]string{{packs, other}, {aside, packs}, {other, aside}} {
			gitdifftest.Must(t, os.RemoveAll(move[1]))
			gitdifftest.Must(t, os.Rename(move[0], move[1]))
		}
	}
	r, err := newReader(objects)
	gitdifftest.Must(t, err)
	t.Cleanup(func() { gitdifftest.Must(t, r.Close()) })
	read := func(id string) {
		t.Helper()
		if _, err := r.EncodedObject(plumbing.BlobObject, plumbing.NewHash(id)); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	exchange()
	read(blobs[0]) // reads the indexes, and opens one of both packs
	exchange()
	read(blobs[1])
}
