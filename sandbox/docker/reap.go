package docker

import (
	"context"
	"errors"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"
)

// reapRounds is how often Reap lists everything again while volumes are in use.
const reapRounds = 3

// Reap removes what crashed runners of this instance left; see sandbox.Engine. Labels can come from an image, so a
// container must have our form of name as well as our labels.
//
// The engine may still be carrying out the last request of a killed runner: its container then appears after the
// listing, and holds its volume. So Reap does not spend all of its time waiting for a volume, but lists again.
func (e *Engine) Reap(ctx context.Context, alive func(owner string) bool) ([]string, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	clearing, cancel := e.teardown(ctx, e.timeouts.Teardown)
	defer cancel()
	var removed []string
	for round := 1; ; round++ {
		names, held, err := e.reapRound(ctx, clearing, alive)
		removed = append(removed, names...)
		if err == nil || !held || round == reapRounds || clearing.Err() != nil {
			return removed, err
		}
	}
}

// reapRound lists everything once and removes what is dead. held says that a volume could not be removed. ctx bounds
// the listing, clearing the removal.
func (e *Engine) reapRound(ctx, clearing context.Context, alive func(owner string) bool) (removed []string, held bool, failed error) {
	ours := filters.NewArgs(
		filters.Arg("label", labelBox+"=1"),
		filters.Arg("label", labelInstance+"="+e.instance),
	)
	boxes, err := ask(ctx, e, "list containers", e.timeouts.Call, func(ctx context.Context) ([]container.Summary, error) {
		return e.client.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	})
	if err != nil {
		return nil, false, err
	}
	volumes, err := ask(ctx, e, "list volumes", e.timeouts.Call, func(ctx context.Context) (volume.ListResponse, error) {
		return e.client.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("name", "sandboxrun-"))})
	})
	if err != nil {
		return nil, false, err
	}
	dead := func(labels map[string]string) bool {
		owner := labels[labelOwner]
		return owner != "" && !alive(owner)
	}
	for _, c := range boxes {
		name := boxName(c.Labels[labelOwner], c.Labels[labelRole])
		if len(c.Names) != 1 || c.Names[0] != "/"+name || !dead(c.Labels) {
			continue
		}
		if err := e.removeContainer(clearing, c.ID); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		removed = append(removed, name)
	}
	for _, v := range volumes.Volumes {
		if !e.ownVolume(v) || alive(volumeOwner(v.Name)) {
			continue
		}
		if err := e.reapVolume(clearing, v.Name); err != nil {
			held, failed = true, errors.Join(failed, err)
			continue
		}
		removed = append(removed, v.Name)
	}
	return removed, held, failed
}

// ownVolume reports whether a volume was made for a box of this instance: by us, with our labels, or by the engine,
// without any. The engine creates the volume that a container names when it is missing, as when the container of a
// killed runner appears after a reap has removed its volume.
func (e *Engine) ownVolume(v *volume.Volume) bool {
	owner := volumeOwner(v.Name)
	if len(v.Labels) == 0 {
		return strings.HasPrefix(owner, e.instance+".")
	}
	return owner != "" && v.Labels[labelBox] == "1" && v.Labels[labelInstance] == e.instance &&
		v.Name == volumeName(v.Labels[labelOwner], v.Labels[labelRole])
}

// volumeOwner is the owner in the name of a volume, "" for a name of another form: neither owners nor roles contain a
// dash.
func volumeOwner(name string) string {
	parts := strings.Split(name, "-")
	if len(parts) != 4 || volumeName(parts[1], parts[2]) != name {
		return ""
	}
	return parts[1]
}

func (e *Engine) reapVolume(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeouts.Retry, &lateError{"removal", e.timeouts.Retry})
	defer cancel()
	return e.removeVolume(ctx, name, "")
}
