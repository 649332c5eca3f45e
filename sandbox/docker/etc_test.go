package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/sandbox"
)

func TestUsersOfAnImageAreMergedWithTheBoxs(t *testing.T) {
	t.Parallel()
	u := sandbox.User{UID: 10001, GID: 10002}
	entry := "agent:x:10001:10002:sandboxrun:/home/agent:/bin/sh\n"
	for own, want := range map[string]string{
		"": entry + "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
		"root:x:0:0::/root:/bin/bash\npostgres:x:70:70::/:/bin/sh":                                    entry + "root:x:0:0::/root:/bin/bash\npostgres:x:70:70::/:/bin/sh\n",
		"agent:x:0:0::/:/bin/sh\nother:x:10001:0::/:/bin/sh\nkept:x:10002:1::/:/bin/sh\r\n":           entry + "kept:x:10002:1::/:/bin/sh\n",
		"no line\n:x:1:1::/:/bin/sh\na:b\n+::::::\n\xff:x:1:1::/:/bin/sh\nnul\x00:x:1:1::/:/bin/sh\n": entry + "+::::::\n",
	} {
		if got := withUser("passwd", own, u); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", own, got, want)
		}
	}
	if got, want := withUser("group", "root:x:0:\nagent:x:5:root\nx:x:10002:root\nadm:x:4:agent\n", u), "agent:x:10002:\nroot:x:0:\nadm:x:4:agent\n"; got != want {
		t.Errorf("groups:\n%s\nwant\n%s", got, want)
	}
	if lines := strings.Count(withUser("passwd", strings.Repeat("a:x:1:1::/:/bin/sh\n", 2*maxUserLines), u), "\n"); lines != maxUserLines {
		t.Errorf("%d lines", lines)
	}
}

func TestUserFilesOfManyImagesAreForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxUserKept {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("passwd-%d-1-1", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "resolv.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := forgetOld(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != maxUserKept/2+1 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestSharedMemoryFollowsTheMemory(t *testing.T) {
	t.Parallel()
	for memory, want := range map[int64]int64{64 << 20: 64 << 20, 2 << 30: 1 << 30, 64 << 30: 2 << 30} {
		if got := shmBytes(sandbox.Limits{MemoryBytes: memory}); got != want {
			t.Errorf("%d: %d, want %d", memory, got, want)
		}
	}
}
