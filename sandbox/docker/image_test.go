package docker_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
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
	err := e.BuildImage(t.Context(), docker.Build{Context: tarball(t, "FROM "+testImage+"\nRUN echo the reason; exit 3\n"), Tag: "sandboxrun/test:never"}, &progress)
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
		if err := e.BuildImage(t.Context(), docker.Build{Context: tarball(t, text), Tag: "sandboxrun/test:never"}, &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// The classic builder keeps every stage as an image without a name.
func TestBuildLeavesNoImageWithoutAName(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	e := openEngine(t, docker.Config{})
	prefix := "sandboxrun/test:" + strings.ToLower(rand.Text())
	stageTag := func(stage string) string { return prefix + "." + cmp.Or(stage, "unfinished") }
	t.Cleanup(func() {
		for _, ref := range []string{prefix, stageTag("one"), stageTag("two")} {
			if _, err := e.RemoveImage(context.WithoutCancel(t.Context()), ref); err != nil {
				t.Error(err)
			}
		}
	})
	id := func(ref string) string {
		info, err := e.Image(t.Context(), ref)
		if err != nil && !errors.As(err, new(*sandbox.ImageError)) {
			t.Fatal(err)
		}
		return info.ID
	}
	build := func(text string) error {
		text = strings.ReplaceAll(text, "BASE", testImage) + "LABEL at=" + prefix + "\n"
		return e.BuildImage(t.Context(), docker.Build{Context: tarball(t, text), Tag: prefix, StageTag: stageTag}, io.Discard)
	}
	const stages = "FROM BASE AS one\nENV A=1\nFROM one AS Two\nENV B=1\nFROM BASE\nCOPY --from=two /etc/hostname /x\n"
	if err := build(stages); err != nil {
		t.Fatal(err)
	}
	whole, two := id(prefix), id(stageTag("two"))
	if whole == "" || two == "" || id(stageTag("one")) == "" {
		t.Fatal("a stage has no name")
	}
	// What a failed build had done has a name, until one succeeds; a base that it only starts from gets none.
	if err := build(stages + "ENV C=1\nRUN false\n"); err == nil {
		t.Error("a failing step made an image")
	}
	unfinished := id(stageTag(""))
	if unfinished == "" || id(prefix) != whole {
		t.Error("a failed build leaves an image without a name, or takes the name of the one before")
	}
	if err := build("FROM BASE\nRUN false\n"); err == nil || id(stageTag("")) != unfinished {
		t.Errorf("the base got a name: %v", err)
	}
	// Images that are replaced go, and those that something is made from stay.
	if err := build(strings.Replace(stages, "B=1", "B=2", 1) + "ENV C=2\n"); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{whole, two, unfinished} {
		if id(old) != "" {
			t.Errorf("the image %s is left", old)
		}
	}
}

// built builds an image that is removed with the test, and returns its tag and the build's output.
func built(t *testing.T, e *docker.Engine, dockerfile string, args map[string]string) (tag, progress string) {
	t.Helper()
	tag = "sandboxrun/test:" + strings.ToLower(rand.Text())
	var said bytes.Buffer
	b := docker.Build{Context: tarball(t, dockerfile), Tag: tag, Args: args, Labels: map[string]string{"test.label": "1"}}
	if err := e.BuildImage(t.Context(), b, &said); err != nil {
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
