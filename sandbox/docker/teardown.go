package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/volume"

	"sandboxrun/internal/step"
	"sandboxrun/sandbox"
)

// retryPause is the first pause between attempts to remove; it doubles.
const retryPause = 100 * time.Millisecond

// teardown returns a context for removal, which must also happen when ctx has ended. It is one of the two places where
// a context is detached from its parent.
func (e *Engine) teardown(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), limit, &lateError{"removal", limit})
}

// remove removes the box and returns when the engine confirms it. Concurrent calls take turns; after a success it does
// nothing. An engine that was lost, or failed to remove before, does not get the full time again.
func (b *box) remove(ctx context.Context) error {
	b.removal.Lock()
	defer b.removal.Unlock()
	if b.removed {
		return nil
	}
	limit := b.engine.timeouts.Teardown
	var lost *sandbox.UnavailableError
	if b.tried || errors.As(context.Cause(b.life), &lost) {
		limit = b.engine.timeouts.Retry
	}
	b.tried = true
	ctx, cancel := b.engine.teardown(ctx, limit)
	defer cancel()
	step.Before(sandbox.StepRemove)
	err := b.engine.removeContainer(ctx, b.container)
	step.After(sandbox.StepRemove)
	if err != nil {
		return err
	}
	step.Before(sandbox.StepRemoveVolume)
	err = b.engine.removeVolume(ctx, b.volume, b.container)
	step.After(sandbox.StepRemoveVolume)
	if err != nil {
		return err
	}
	b.removed = true
	return nil
}

// removeContainer kills and removes a container with its anonymous volumes and waits until the engine no longer knows
// it. "Not found" as the answer to the removal is not enough: inspecting must confirm it.
func (e *Engine) removeContainer(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	return persist(ctx, "remove container "+id, func() (gone bool, err error) {
		err = order(ctx, e, "remove container", e.timeouts.Remove, func(ctx context.Context) error {
			return e.client.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		})
		if err != nil && !errdefs.IsConflict(err) && !errdefs.IsNotFound(err) {
			// Even when the removal fails, no process may keep running.
			err = errors.Join(err, order(ctx, e, "kill container", e.timeouts.Call, func(ctx context.Context) error {
				return e.client.ContainerKill(ctx, id, "KILL")
			}))
		}
		_, look := ask(ctx, e, "inspect container", e.timeouts.Call, func(ctx context.Context) (container.InspectResponse, error) {
			return e.client.ContainerInspect(ctx, id)
		})
		if errdefs.IsNotFound(look) {
			return true, nil
		}
		return false, errors.Join(err, look)
	})
}

// removeVolume removes a named volume, which unmounts it. Where it is in use, holder is removed once more: a container
// whose creation was cut off may have appeared after its removal. holder is "" where none can hold it.
func (e *Engine) removeVolume(ctx context.Context, name, holder string) error {
	if name == "" {
		return nil
	}
	return persist(ctx, "remove volume "+name, func() (gone bool, err error) {
		err = order(ctx, e, "remove volume", e.timeouts.Remove, func(ctx context.Context) error {
			return e.client.VolumeRemove(ctx, name, false)
		})
		if errdefs.IsConflict(err) {
			return false, errors.Join(err, e.removeContainer(ctx, holder))
		}
		if !errdefs.IsNotFound(err) {
			return err == nil, err
		}
		_, look := ask(ctx, e, "inspect volume", e.timeouts.Call, func(ctx context.Context) (volume.Volume, error) {
			return e.client.VolumeInspect(ctx, name)
		})
		if errdefs.IsNotFound(look) {
			return true, nil
		}
		return false, errors.Join(err, look)
	})
}

// persist calls attempt until it reports gone or ctx ends.
func persist(ctx context.Context, op string, attempt func() (gone bool, err error)) error {
	pause := retryPause
	for {
		gone, err := attempt()
		if gone {
			return nil
		}
		if ctx.Err() == nil {
			wait(ctx, pause)
			pause = min(2*pause, 3*time.Second)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: not confirmed: %w", op, errors.Join(err, context.Cause(ctx)))
		}
	}
}
