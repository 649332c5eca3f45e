package e2e

import (
	"encoding/json"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/internal/testenv"
	"sandboxrun/sandbox/probe"
)

var updatePictures = flag.Bool("update-pictures", false, "rewrite the expected pictures of boxes")

// lookAround is the command that inspects a box from inside and tries to reach the host's port.
func lookAround(t *testing.T, port string) string {
	t.Helper()
	command := "/.sandboxrun/guest look"
	for _, host := range append(hostAddresses(t), "169.254.169.254", "172.17.0.1") {
		command += " --reach " + net.JoinHostPort(host, port)
	}
	return command
}

// viewOf runs a task that inspects its box and returns the view.
func viewOf(t *testing.T, rig *rig, task map[string]any, flags ...string) probe.View {
	t.Helper()
	res, o := rig.execute(task, append(flags, "--land", "none")...)
	if o.exit != 0 || len(res.Logs) == 0 {
		t.Fatalf("exit %d, issues %+v, commands %+v", o.exit, res.Issues, res.CommandsRun)
	}
	text, err := os.ReadFile(res.Logs[0])
	if err != nil {
		t.Fatal(err)
	}
	var v probe.View
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	return v
}

func TestBoxMatchesItsExpectedPicture(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{"runc", "runsc"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			testenv.Runtime(t, runtime)
			matchesPicture(t, newRig(t), runtime, false)
		})
	}
}

// matchesPicture compares a box of a rig with the expected picture.
func matchesPicture(t *testing.T, rig *rig, runtime string, remapped bool) {
	t.Helper()
	port, hits := canary(t)
	got := viewOf(t, rig, newRepo(t, sample).task(lookAround(t, port)), "--runtime", runtime).Picture(probe.ThisMachine())
	if hits() != 0 {
		t.Errorf("%d connections reached the host", hits())
	}
	if *updatePictures {
		name := filepath.Join("..", "..", "..", "sandbox", "probe", probe.PictureFile(runtime, remapped))
		if err := os.WriteFile(name, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, ok := probe.Expected(runtime, remapped)
	if !ok {
		t.Fatalf("there is no expected picture of a box on %s", runtime)
	}
	if diff := probe.Compare(want, got); diff != nil {
		t.Errorf("the box differs from the expected picture (- missing, + new):\n%s", strings.Join(diff, "\n"))
	}
}

// hostileImage has every setting by which an image can influence its run.
var hostileImage = `FROM ` + agentImage + `
USER root
VOLUME /data
ENTRYPOINT ["/bin/sh", "-c", "echo hooked > /workspace/HOOKED; exec sleep 1000", "--"]
CMD ["/bin/sh", "-c", "exit 3"]
HEALTHCHECK --interval=1s CMD echo hooked > /workspace/HOOKED
ENV LD_PRELOAD=/usr/lib/evil.so DOCKER_HOST=tcp://172.17.0.1:2375 AWS_SECRET_ACCESS_KEY=x BASH_ENV=/evil.sh
WORKDIR /evil
STOPSIGNAL SIGWINCH
EXPOSE 80
LABEL sandboxrun.owner=nobody sandboxrun.instance=nowhere
ONBUILD RUN false
`

func TestImageCannotChangeThePictureOfItsBox(t *testing.T) {
	t.Parallel()
	testenv.Runtime(t, "runc")
	rig, repo := newRig(t), newRepo(t, sample)
	name := "sandboxrun-test-" + strings.ToLower(filepath.Base(filepath.Dir(rig.state)))
	build := exec.CommandContext(t.Context(), "docker", "build", "-q", "-t", name, "-")
	build.Stdin = strings.NewReader(hostileImage)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the image: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "image", "rm", name).CombinedOutput(); err != nil {
			t.Errorf("remove the image: %v\n%s", err, out)
		}
	})
	task := repo.task("/.sandboxrun/guest look", "test ! -e HOOKED")
	task["box"] = map[string]any{"image": name}
	want, _ := probe.Expected("runc", false)
	got := viewOf(t, rig, task, "--runtime", "runc").Picture(probe.ThisMachine())
	// A volume of the image's becomes one more temporary directory.
	volume := []string{"+ mount: /data: rw nosuid nodev tmpfs", "+ writable: /data: yes"}
	if diff := cmp.Diff(volume, probe.Compare(want, got)); diff != "" {
		t.Errorf("the box differs from other boxes by (-want +got):\n%s", diff)
	}
}
