package docker_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
	"sandboxrun/sandbox/sandboxtest"
)

// The files of an image are anybody's. Whatever they are, the box has its user, nothing waits, and nothing is left.
func TestUsersOfOddImages(t *testing.T) {
	t.Parallel()
	testenv.NeedsAll(t, "builds an image for each case")
	requireEngine(t)
	for name, c := range map[string]struct{ do, asked, want string }{
		"a link":            {"mv /etc/passwd /opt/users && ln -s ../opt/users /etc/passwd && echo 'svc:x:77:77::/:/bin/sh' >> /opt/users", "getent passwd 77 | cut -d: -f1", "svc"},
		"a link in circles": {"ln -sf group /etc/passwd; ln -sf passwd /etc/group", "grep -c . /etc/passwd", ""},
		"a link to proc":    {"ln -sf /proc/1/environ /etc/passwd", "id -un", ""},
		"a FIFO":            {"rm /etc/passwd; mkfifo /etc/passwd", "id -un", ""}, // the engine would wait at it for ever
		"no file":           {"rm /etc/passwd /etc/group", "id -un; id -gn", "agent\nagent"},
		"a huge file":       {"seq 1000000 | sed 's/$/:x:1:1::\\/:\\/bin\\/sh/' > /etc/passwd", "wc -l < /etc/passwd", "3"},
		"a user of our number": {"echo 'evil:x:10001:0::/:/bin/sh' >> /etc/passwd; echo 'agent:x:0:0::/:/bin/sh' >> /etc/passwd",
			"id -un; id -u agent", "agent\n10001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := openEngine(t, docker.Config{})
			tag := "sandboxrun/test:" + strings.ToLower(rand.Text())
			if err := e.BuildImage(t.Context(), docker.Build{Context: tarball(t, "FROM "+testImage+"\nRUN "+c.do+"\n"), Tag: tag}, io.Discard); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if _, err := e.RemoveImage(context.WithoutCancel(t.Context()), tag); err != nil {
					t.Error(err)
				}
			})
			spec := testSpec(t)
			spec.Image = tag
			box, err := e.Open(t.Context(), spec)
			if err != nil {
				if t.Logf("refused: %v", err); c.want != "" {
					t.Error("no box")
				}
				if image := (*sandbox.ImageError)(nil); name == "a FIFO" && !errors.As(err, &image) {
					t.Error("the image is not named as the cause")
				}
				sandboxtest.NothingLeft(t, e, spec)
				return
			}
			var out bytes.Buffer
			if _, err := box.Exec(t.Context(), sandbox.Command{Argv: []string{"/bin/sh", "-c", c.asked}, Stdout: &out}); err != nil {
				t.Error(err)
			}
			if got := strings.TrimSpace(out.String()); c.want != "" && got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if err := box.Close(t.Context()); err != nil {
				t.Error(err)
			}
			sandboxtest.NothingLeft(t, e, spec)
		})
	}
}
