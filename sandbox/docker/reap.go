package docker

import (
	"context"
	"errors"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"
)

// Reap removes what crashed runners of this instance left; see sandbox.Engine.
// Labels can come from an image, so a thing must have our name as well as our
// labels.
func (e *Engine) Reap(ctx context.Context, alive func(owner string) bool) ([]string, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	ours := filters.NewArgs(
		filters.Arg("label", labelBox+"=1"),
		filters.Arg("label", labelInstance+"="+e.instance),
	)
	boxes, err := ask(ctx, e, "list containers", e.timeouts.Call, func(ctx context.Context) ([]container.Summary, error) {
		return e.client.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	})
	if err != nil {
		return nil, err
	}
	volumes, err := ask(ctx, e, "list volumes", e.timeouts.Call, func(ctx context.Context) (volume.ListResponse, error) {
		return e.client.VolumeList(ctx, volume.ListOptions{Filters: ours})
	})
	if err != nil {
		return nil, err
	}
	dead := func(labels map[string]string) bool {
		owner := labels[labelOwner]
		return owner != "" && !alive(owner)
	}
	ctx, cancel := e.teardown(ctx, e.timeouts.Teardown)
	defer cancel()
	var removed []string
	var failed error
	for _, c := range boxes {
		name := boxName(c.Labels[labelOwner], c.Labels[labelRole])
		if len(c.Names) != 1 || c.Names[0] != "/"+name || !dead(c.Labels) {
			continue
		}
		if err := e.removeContainer(ctx, c.ID); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		removed = append(removed, name)
	}
	for _, v := range volumes.Volumes {
		if v.Name != volumeName(v.Labels[labelOwner], v.Labels[labelRole]) || !dead(v.Labels) {
			continue
		}
		if err := e.removeVolume(ctx, v.Name); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		removed = append(removed, v.Name)
	}
	return removed, failed
}
