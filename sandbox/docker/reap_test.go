package docker_test

import (
	"context"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"sandboxrun/sandbox/docker"
	"sandboxrun/sandbox/sandboxtest"
)

func nobody(string) bool { return false }

func TestReapLeavesOtherInstancesAlone(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	spec := testSpec(t)
	mine := openEngine(t, docker.Config{})
	box, err := mine.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	other, err := docker.New(docker.Config{Instance: "another", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if removed, err := other.Reap(t.Context(), nobody); err != nil || len(removed) != 0 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	sandboxtest.NothingLeft(t, mine, spec)
}

// Labels of an image become labels of every container made from it.
func TestReapIsNotFooledByLabels(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	sdk, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	defer sdk.Close()
	made, err := sdk.ContainerCreate(t.Context(), &container.Config{
		Image: testImage, Cmd: []string{"true"},
		Labels: map[string]string{"sandboxrun": "1", "sandboxrun.instance": "spoof", "sandboxrun.owner": "x", "sandboxrun.role": "y"},
	}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sdk.ContainerRemove(context.WithoutCancel(t.Context()), made.ID, container.RemoveOptions{Force: true})
	e, err := docker.New(docker.Config{Instance: "spoof", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if removed, err := e.Reap(t.Context(), nobody); err != nil || len(removed) != 0 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if _, err := sdk.ContainerInspect(t.Context(), made.ID); err != nil {
		t.Errorf("somebody else's container: %v", err)
	}
}
