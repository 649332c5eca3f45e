package docker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"sandboxrun/sandbox/docker"
)

// The engine may carry out a killed runner's last request after a reap has listed everything.
func TestReapRemovesABoxThatAppearsWhileItReaps(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	sdk := openSDK(t)
	labels := map[string]string{"sandboxrun": "1", "sandboxrun.instance": "late", "sandboxrun.owner": "late.run", "sandboxrun.role": "agent"}
	const box, tree = "sandboxrun-late.run-agent", "sandboxrun-late.run-agent-tree"
	if _, err := sdk.VolumeCreate(t.Context(), volume.CreateOptions{Name: tree, Labels: labels}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = sdk.ContainerRemove(ctx, box, container.RemoveOptions{Force: true}) // already removed on success
		_ = sdk.VolumeRemove(ctx, tree, true)
	})
	var once sync.Once
	appear := func(string) bool { // called after the listing
		once.Do(func() {
			_, err := sdk.ContainerCreate(t.Context(), &container.Config{Image: testImage, Cmd: []string{"true"}, Labels: labels},
				&container.HostConfig{NetworkMode: "none", Mounts: []mount.Mount{{Type: mount.TypeVolume, Source: tree, Target: "/tree"}}}, nil, nil, box)
			if err != nil {
				t.Error(err)
			}
		})
		return false
	}
	e := openEngine(t, docker.Config{Instance: "late", Timeouts: docker.Timeouts{Retry: time.Second}})
	removed, err := e.Reap(t.Context(), appear)
	if err != nil || len(removed) != 2 {
		t.Errorf("removed %v, %v", removed, err)
	}
	// Its volume was removed before the container appeared: the engine made another one.
	if _, err := sdk.VolumeCreate(t.Context(), volume.CreateOptions{Name: tree}); err != nil {
		t.Fatal(err)
	}
	const theirs = "sandboxrun-other.run-agent-tree"
	if _, err := sdk.VolumeCreate(t.Context(), volume.CreateOptions{Name: theirs}); err != nil {
		t.Fatal(err)
	}
	removed, err = e.Reap(t.Context(), func(string) bool { return false })
	if err != nil || len(removed) != 1 || removed[0] != tree {
		t.Errorf("removed %v, %v, want the volume without labels", removed, err)
	}
	if err := sdk.VolumeRemove(t.Context(), theirs, true); err != nil {
		t.Errorf("a volume of another instance: %v", err)
	}
	for name, look := range map[string]func() error{
		box:  func() error { _, err := sdk.ContainerInspect(t.Context(), box); return err },
		tree: func() error { _, err := sdk.VolumeInspect(t.Context(), tree); return err },
	} {
		if look() == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
