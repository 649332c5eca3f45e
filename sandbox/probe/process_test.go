package probe

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestThisProcessIsDescribed(t *testing.T) {
	t.Parallel()
	p := Self()
	if want := strconv.Itoa(os.Getuid()); strings.Fields(p.UIDs)[0] != want {
		t.Errorf("users %q, want %s", p.UIDs, want)
	}
	if len(p.Caps) != 5 || p.Seccomp == "" || p.NoNewPrivs == "" || p.Umask == "" || p.Limits["nofile"] == "" {
		t.Errorf("%+v", p)
	}
	if gone := describe("/proc/none"); gone.UIDs != "" || gone.Dumpable != "ENOENT" {
		t.Errorf("a missing process: %+v", gone)
	}
}

func TestSocketsAndNamespacesAreNamed(t *testing.T) {
	t.Parallel()
	if got := trySockets(); got["unix"] != "ok" || len(got) != len(families) {
		t.Errorf("%v", got)
	}
	if got := ThisMachine(); got.Release == "" || !strings.HasPrefix(got.Namespaces["net"], "net:[") {
		t.Errorf("%+v", got)
	}
	if len(mounts()) == 0 {
		t.Error("no mounts")
	}
}

func TestReadingNeverBlocksOrFollowsSize(t *testing.T) {
	t.Parallel()
	if text, err := head("/dev/zero"); err != nil || len(text) != maxFile {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for path, want := range map[string]string{
		"/dev/null": "empty", "/dev/zero": "readable", "/no/such/file": "ENOENT", t.TempDir(): "empty", "/": "readable",
	} {
		if got := readable(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
