package docker_test

import (
	"os/exec"
	"testing"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker"
)

// BenchmarkBox times a whole box: open, one command, close. Compare it with BenchmarkDockerRun of the same run; only
// the ratio means anything.
func BenchmarkBox(b *testing.B) {
	requireEngine(b)
	e := openEngine(b, docker.Config{})
	spec := testSpec(b)
	for b.Loop() {
		box, err := e.Open(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		if exit, err := box.Exec(b.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
		if err := box.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDockerRun times the same with the engine's own client.
func BenchmarkDockerRun(b *testing.B) {
	requireEngine(b)
	for b.Loop() {
		if out, err := exec.CommandContext(b.Context(), "docker", "run", "--rm", "--network", "none", testImage, "true").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

// BenchmarkExec times one command in an open box.
func BenchmarkExec(b *testing.B) {
	requireEngine(b)
	box, err := openEngine(b, docker.Config{}).Open(b.Context(), testSpec(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if exit, err := box.Exec(b.Context(), sandbox.Command{Argv: []string{"true"}}); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
	if err := box.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
