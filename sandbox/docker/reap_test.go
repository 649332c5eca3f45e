package docker_test

import (
	"context"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"sandboxrun/sandbox/docker"
	"sandboxrun/sandbox/sandboxtest"
)

func noneAlive(string) bool { return false }

// openSDK is the engine's own client, to inspect it from outside.
func openSDK(t *testing.T) *client.Client {
	t.Helper()
	sdk, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sdk.Close(); err != nil {
			t.Error(err)
		}
	})
	return sdk
}

func TestReapLeavesOtherInstancesAlone(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	mine := openEngine(t, docker.Config{})
	box, spec := openBox(t, mine)
	other := openEngine(t, docker.Config{Instance: "another"})
	if removed, err := other.Reap(t.Context(), noneAlive); err != nil || len(removed) != 0 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	sandboxtest.NothingLeft(t, mine, spec)
}

// Labels of an image become labels of every container made from it.
func TestReapChecksNamesNotLabelsAlone(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	sdk := openSDK(t)
	made, err := sdk.ContainerCreate(t.Context(), &container.Config{
		Image: testImage, Cmd: []string{"true"},
		Labels: map[string]string{"sandboxrun": "1", "sandboxrun.instance": "spoof", "sandboxrun.owner": "x", "sandboxrun.role": "y"},
	}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sdk.ContainerRemove(context.WithoutCancel(t.Context()), made.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	})
	e := openEngine(t, docker.Config{Instance: "spoof"})
	if removed, err := e.Reap(t.Context(), noneAlive); err != nil || len(removed) != 0 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if _, err := sdk.ContainerInspect(t.Context(), made.ID); err != nil {
		t.Errorf("another program's container: %v", err)
	}
}
