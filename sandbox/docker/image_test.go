package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
	"sandboxrun/sandbox/sandboxtest"
)

// hostile is an image that sets everything an image can set.
const hostile = `FROM ` + testImage + `
ARG WHO
USER root
ENV LD_PRELOAD=/evil.so DOCKER_HOST=tcp://evil:1 http_proxy=http://evil:1 TOOL_HOME=/opt/tool PATH=/opt/bin:/usr/bin:/bin
LABEL sandboxrun=0 sandboxrun.owner=spoofed who=$WHO
HEALTHCHECK --interval=1s CMD touch /tmp/healthy
VOLUME ["/data", "/var/lib/more"]
WORKDIR /proc/self
STOPSIGNAL SIGUSR1
EXPOSE 80
ENTRYPOINT ["/bin/false"]
CMD ["evil"]
ONBUILD RUN false
`

func TestImageCannotWeakenABox(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	e := openEngine(t, docker.Config{})
	tag, progress := built(t, e, hostile, map[string]string{"WHO": "somebody"})
	if !strings.Contains(progress, "Step 1/") || !strings.Contains(progress, "Successfully built") {
		t.Errorf("progress: %s", progress)
	}
	info, err := e.Image(t.Context(), tag)
	if err != nil || !strings.HasPrefix(info.ID, "sha256:") || info.Labels["who"] != "somebody" || info.Labels["test.label"] != "1" {
		t.Errorf("image %+v, %v", info, err)
	}
	list, err := e.Images(t.Context(), "who=somebody")
	if err != nil || len(list) != 1 || list[0].ID != info.ID {
		t.Errorf("images %+v, %v", list, err)
	}

	spec := testSpec(t)
	spec.Image = tag
	box, err := e.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	exit, err := box.Exec(t.Context(), sandbox.Command{
		Argv:   []string{"/bin/sh", "-c", `echo "$LD_PRELOAD|$DOCKER_HOST|$http_proxy|$TOOL_HOME|$PATH|$HOME|$PWD|$(id -u)"; for d in /data /var/lib/more; do stat -f -c %T $d; done; ls /tmp`},
		Stdout: &out, Stderr: &errs,
	})
	if err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v, %s", exit, err, errs.String())
	}
	want := "|||/opt/tool|/opt/bin:/usr/bin:/bin|/home/agent|/workspace|10001\ntmpfs\ntmpfs\n"
	if os.Getuid() != 0 {
		t.Skip("the expected user id is that of tests run by root")
	}
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	sandboxtest.NothingLeft(t, e, spec)
}

func TestFailedBuildNamesTheStep(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	e := openEngine(t, docker.Config{})
	var progress bytes.Buffer
	err := e.BuildImage(t.Context(), tarball(t, "FROM "+testImage+"\nRUN echo the reason; exit 3\n"), "sandboxrun/test:never", nil, nil, &progress)
	var failed *docker.BuildError
	if !errors.As(err, &failed) || !strings.Contains(failed.Step, "Step 2/2 : RUN echo the reason") || !strings.Contains(strings.Join(failed.Tail, "\n"), "the reason") {
		t.Errorf("got %v", err)
	}
}

func TestBuildOfMalformedDockerfile(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	e := openEngine(t, docker.Config{})
	for _, text := range []string{"", "NONSENSE\n"} {
		if err := e.BuildImage(t.Context(), tarball(t, text), "sandboxrun/test:never", nil, nil, &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// built builds an image that is removed with the test, and returns its tag and the build's output.
func built(t *testing.T, e *docker.Engine, dockerfile string, args map[string]string) (tag, progress string) {
	t.Helper()
	tag = "sandboxrun/test:" + strings.ToLower(rand.Text())
	var said bytes.Buffer
	if err := e.BuildImage(t.Context(), tarball(t, dockerfile), tag, args, map[string]string{"test.label": "1"}, &said); err != nil {
		t.Fatal(err)
	}
	sdk := openSDK(t)
	t.Cleanup(func() {
		if _, err := sdk.ImageRemove(context.WithoutCancel(t.Context()), tag, image.RemoveOptions{Force: true, PruneChildren: true}); err != nil {
			t.Error(err)
		}
	})
	return tag, said.String()
}

func tarball(t *testing.T, dockerfile string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(dockerfile))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(dockerfile)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}
