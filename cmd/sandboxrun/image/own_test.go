package image

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"sandboxrun/images"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

// shop runs the commands of this package against the real engine, on images of one test.
type shop struct {
	t   *testing.T
	tag string
	dir string // where the Dockerfile is
}

func newShop(t *testing.T) shop {
	t.Helper()
	s := shop{t, "sandboxrun-test-" + strings.ToLower(rand.Text()[:10]), t.TempDir()}
	t.Cleanup(func() {
		for _, ref := range []string{s.tag, images.BaseTag(s.tag)} {
			_ = exec.CommandContext(context.WithoutCancel(t.Context()), "docker", "image", "rm", "-f", ref).Run()
		}
	})
	return s
}

func (s shop) dockerfile(text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "Dockerfile"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// do runs one command line and returns what it prints on standard output.
func (s shop) do(words ...string) (string, error) {
	s.t.Helper()
	var out bytes.Buffer
	state := s.t.TempDir()
	h := Host{
		Stdout: &out, Stderr: io.Discard, Getenv: os.Getenv, Environ: os.Environ,
		Engine:        func() (*docker.Engine, error) { return docker.New(docker.Config{Dir: state, Instance: "test"}) },
		Interruptible: func(ctx context.Context) (context.Context, func()) { return ctx, func() {} },
		PrintJSON:     func(v any) error { return json.NewEncoder(&out).Encode(v) },
	}
	app := &cli.App{Commands: []*cli.Command{Command(h)}, ExitErrHandler: func(*cli.Context, error) {}}
	err := app.RunContext(s.t.Context(), append([]string{"sandboxrun", "image"}, words...))
	return out.String(), err
}

func (s shop) must(words ...string) string {
	s.t.Helper()
	out, err := s.do(words...)
	if err != nil {
		s.t.Fatalf("image %s: %v", strings.Join(words, " "), err)
	}
	return out
}

// docker asks the engine by its own command line.
func (s shop) docker(words ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "docker", words...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("docker %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s shop) id(ref string) string {
	s.t.Helper()
	return s.docker("image", "inspect", "--format", "{{.Id}}", ref)
}

// gone fails the test when an image is there.
func (s shop) gone(id string) {
	s.t.Helper()
	if err := exec.CommandContext(s.t.Context(), "docker", "image", "inspect", id).Run(); err == nil {
		s.t.Errorf("the image %s is left", id)
	}
}

// ownTools is an image with all the programs an agent needs, so that nothing is downloaded, and with a Node.js of its own.
const ownTools = `FROM sandboxrun/agent
RUN rm -rf /opt/agents /usr/local/lib/node_modules && find /usr/local/bin -mindepth 1 -delete && \
    printf '#!/bin/sh\necho my own node\n' >/usr/local/bin/node && chmod 755 /usr/local/bin/node
`

func TestAgentsOnTopOfAnImageOfTheUsers(t *testing.T) { //nolint:paralleltest // the flags of the library belong to the process
	testenv.Engine(t, images.Name)
	testenv.NeedsAll(t, "builds an image twice")
	s := newShop(t)
	s.dockerfile(ownTools)
	build := []string{"build", "--quiet", "--base", s.dir, "--tag", s.tag, "pi"}
	if out := s.must(build...); !strings.Contains(out, s.tag+" built in") || !strings.Contains(out, "pi@") || strings.Contains(out, "claude@") {
		t.Errorf("said %q", out)
	}
	run := func(script string) string {
		return s.docker("run", "--rm", "--network", "none", "--read-only", "--user", "10001:10001", "--tmpfs", "/tmp", "--env", "HOME=/tmp", s.tag, "sh", "-euc", script)
	}
	if out := run("node; pi --version; git --version; head -1 $(readlink -f $(command -v pi))"); !strings.HasPrefix(out, "my own node\n") || !strings.HasSuffix(out, "#!/opt/agents/node/bin/node") {
		t.Errorf("in the image: %q", out)
	}

	// The same inputs are the same image; other inputs replace it, and nothing is left of the one before.
	if out := s.must(build...); !strings.Contains(out, "is up to date") {
		t.Errorf("built again: %q", out)
	}
	image, base := s.id(s.tag), s.id(images.BaseTag(s.tag))
	s.dockerfile(ownTools + "RUN false\n")
	if _, err := s.do(build...); err == nil {
		t.Error("a Dockerfile that fails made an image")
	}
	s.dockerfile(ownTools + "ENV NEW=1\n")
	s.must(build...)
	s.gone(image)
	s.gone(base)
	s.gone(images.Unfinished)
	if out := s.must("list"); !strings.Contains(out, s.tag+":latest") || !strings.Contains(out, "(base of "+s.tag+")") || strings.Contains(out, "(replaced)  "+shortID(image)) {
		t.Errorf("list says\n%s", out)
	}

	// What others make is not touched: neither an image made from ours, nor one whose name is wanted.
	theirs := s.tag + "-theirs"
	s.docker("tag", images.Base, theirs)
	t.Cleanup(func() {
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), "docker", "image", "rm", theirs).Run()
	})
	var bad *document.InputError
	if _, err := s.do("build", "--base", s.dir, "--tag", theirs, "pi"); !errors.As(err, &bad) || !strings.Contains(bad.Message, "did not build it") {
		t.Errorf("an image of others is replaced: %v", err)
	}
	if _, err := s.do("rm", theirs); !errors.As(err, &bad) {
		t.Errorf("an image of others is removed: %v", err)
	}
	image, base = s.id(s.tag), s.id(images.BaseTag(s.tag))
	if out := s.must("rm", s.tag); !strings.Contains(out, s.tag) || !strings.Contains(out, images.BaseTag(s.tag)) {
		t.Errorf("rm says %q", out)
	}
	s.gone(image)
	s.gone(base)
}

func TestImagesThatCannotHoldAgentsSayWhy(t *testing.T) { //nolint:paralleltest // the flags of the library belong to the process
	testenv.Engine(t, images.Name)
	testenv.NeedsAll(t, "three more builds")
	s := newShop(t)
	for said, text := range map[string]string{
		"agents need one made with glibc":           "FROM sandboxrun/agent\nRUN touch /lib/ld-musl-x86_64.so.1\n",
		"lacks git and has no apt-get":              "FROM sandboxrun/agent\nRUN rm /usr/bin/git /usr/bin/apt-get\n",
		"brings a pi of its own at /usr/bin/pi":     "FROM sandboxrun/agent\nENV PATH=/usr/bin:/usr/local/bin:/bin\nRUN ln -s /bin/true /usr/bin/pi\n",
		"/usr/local/bin is not in the PATH of this": "FROM sandboxrun/agent\nENV PATH=/usr/bin:/bin\n",
	} {
		s.dockerfile(text)
		_, err := s.do("build", "--quiet", "--base", filepath.Join(s.dir, "Dockerfile"), "--tag", s.tag, "pi")
		var failed *docker.BuildError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", said, err)
		}
	}
	if out := s.must("prune", "--dry-run"); !strings.Contains(out, images.BaseTag(s.tag)) {
		t.Errorf("the base without an image would stay: %q", out)
	}
}

func TestPruneTakesWhatNoImageNeeds(t *testing.T) {
	t.Parallel()
	image := func(labels map[string]string, tags ...string) sandbox.ImageInfo {
		return sandbox.ImageInfo{ID: "sha256:0", Tags: tags, Labels: labels}
	}
	inputs := map[string]string{images.InputsLabel: "x", images.ImageLabel: "mine"}
	ofMine, ofNone := map[string]string{images.InputsLabel: "x", images.BaseOfLabel: "mine"}, map[string]string{images.InputsLabel: "x", images.BaseOfLabel: "none"}
	all := []sandbox.ImageInfo{
		image(inputs, "mine:latest"), image(inputs), image(ofMine, images.BaseTag("mine")), image(ofNone, images.BaseTag("none")),
		image(nil, images.PartTag("npm")), image(nil, images.BaseStageTag("mine", "dev")), image(nil, images.Unfinished),
	}
	for parts, want := range map[bool][]sandbox.ImageInfo{false: {all[1], all[3], all[6]}, true: {all[1], all[3], all[4], all[5], all[6]}} {
		if diff := cmp.Diff(want, needless(all, parts)); diff != "" {
			t.Errorf("parts %v (-want +got):\n%s", parts, diff)
		}
	}
	if theirs := image(inputs, "from-mine:1"); builtAs(theirs) || !builtAs(all[0]) || !builtAs(image(map[string]string{images.InputsLabel: "x"}, "sandboxrun/agent:latest")) {
		t.Error("an image that others made from ours is taken for ours, or one of ours for theirs")
	}
}

func TestWrongWordsOfImageBuildAreRefusedBeforeTheEngineIsAsked(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if err := os.WriteFile(filepath.Join(s.dir, ".devcontainer.json"), []byte(`{"build": {"dockerfile": "../x"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for said, words := range map[string][]string{
		"flag --tag":                  {"--tag", "Not A Name"},
		"name of this program's own":  {"--tag", "sandboxrun/part:agent-claude"},
		"flag --base":                 {"--base", "./nothing/Dockerfile"},
		"--context belongs to":        {"--base", "python:3.12", "--context", s.dir},
		"cannot be used with":         {"--devcontainer", s.dir, "--base", "x"},
		"leads out of the directory":  {"--devcontainer", s.dir},
		"no agent is called":          {"nobody"},
		"has neither .devcontainer/d": {"--devcontainer", t.TempDir()},
	} {
		_, err := s.do(append([]string{"build"}, words...)...)
		var bad *document.InputError
		if !errors.As(err, &bad) || !strings.Contains(bad.Message, said) {
			t.Errorf("%q: %v", words, err)
		}
	}
}
