package docker

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/mount"
	"github.com/google/go-cmp/cmp"

	"sandboxrun/sandbox"
)

var update = flag.Bool("update", false, "rewrite testdata")

func sampleSpec() sandbox.Spec {
	return sandbox.Spec{
		Owner: "run1", Role: "agent", Image: "some:tag", Runtime: "runsc",
		User:   sandbox.User{UID: 10001, GID: 10002},
		Tree:   sandbox.Tree{Dir: "/trees/one"},
		Binds:  []sandbox.Bind{{Source: "/host/guest", Target: "/sandboxrun/guest"}},
		Guest:  []string{"/sandboxrun/guest", "serve"},
		Env:    []string{"A=1", "HOME=/elsewhere"},
		Limits: sandbox.DefaultLimits(),
	}
}

func sampleRecipe(t *testing.T, s sandbox.Spec) recipe {
	t.Helper()
	e := &Engine{instance: "here"}
	img := image{
		id:      "sha256:1111",
		env:     []string{"PATH=/opt/bin:/bin", "LD_PRELOAD=/evil.so", "DOCKER_HOST=tcp://evil", "GOROOT=/go", "A=2"},
		volumes: []string{"/data", "/tmp/x/../", "/workspace"},
	}
	etc := []mount.Mount{readOnly("/private/hosts", "/etc/hosts")}
	r, err := e.newRecipe(s, img, setting{etc: etc, noNetworking: true, now: time.Unix(1700000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecipeMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sandbox.Spec){
		"directory": func(*sandbox.Spec) {},
		"overlay": func(s *sandbox.Spec) {
			s.Tree = sandbox.Tree{Lower: []string{"/l"}, Upper: "/u", Work: "/w"}
			s.Runtime = ""
		},
	} {
		s := sampleSpec()
		change(&s)
		b, err := json.MarshalIndent(sampleRecipe(t, s), "", "  ") //nolint:musttag // read by people only
		if err != nil {
			t.Fatal(err)
		}
		// The profile has a test of its own; its position is enough here.
		text, _ := seccompProfile()
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(string(b), strings.Trim(string(quoted), `"`), "PROFILE") + "\n"
		golden := "testdata/recipe-" + name + ".json"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

func TestRefusesVolumesThatCannotBeCovered(t *testing.T) {
	t.Parallel()
	many := make([]string, maxImageVolumes+1)
	for _, volumes := range [][]string{{"/"}, {"/proc/x"}, {"/dev"}, {"/workspace/node_modules"}, {"/data/../sys"}, many} {
		if err := coverVolumes(map[string]string{}, nil, volumes, sampleSpec(), tmpfsOptions); err == nil {
			t.Errorf("%v: no error", volumes)
		}
	}
}
