package docker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/docker/docker/api/types/container"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/podman"
	"sandboxrun/sandbox/docker/stream"
)

func dialectOf(about sandbox.Info) dialect {
	if about.Name == podman.Name {
		return podmanDialect{}
	}
	return dockerDialect{}
}

// dockerDialect is Docker's own engine: recipes and reports have its form already.
type dockerDialect struct{}

func (dockerDialect) fit(at setting, s sandbox.Spec, about sandbox.Info) setting {
	at.noNetworking = bringsLoopbackUp(cmp.Or(s.Runtime, about.DefaultRun))
	return at
}

func (dockerDialect) request(_ *Engine, r recipe, _ sandbox.Spec, _ sandbox.Info) (recipe, error) {
	return r, nil
}

func (dockerDialect) report(_ recipe, _ image, _ sandbox.Info, made container.InspectResponse) (container.InspectResponse, error) {
	return made, nil
}

func (dockerDialect) prepare(context.Context, *box) error { return nil }

func (dockerDialect) exec(ctx context.Context, e *Engine, id string) (container.ExecInspect, error) {
	return e.client.ContainerExecInspect(ctx, id)
}

func (dockerDialect) verify(context.Context, *box, recipe, sandbox.Info) error { return nil }

// podmanDialect is Podman's Docker-compatible service; see package podman.
type podmanDialect struct{}

func (podmanDialect) api(e *Engine) podman.API {
	return podman.API{HTTP: e.client.HTTPClient(), Version: e.client.ClientVersion()}
}

func (podmanDialect) fit(at setting, _ sandbox.Spec, _ sandbox.Info) setting {
	at.tmpfs = podman.Tmpfs
	return at
}

func (podmanDialect) request(e *Engine, r recipe, s sandbox.Spec, about sandbox.Info) (recipe, error) {
	profile, err := seccompFile(e.dir)
	if err != nil {
		return recipe{}, err
	}
	asked, err := podman.Translate(podman.Request{Config: r.Config, Host: r.Host}, s, about, profile)
	if err != nil {
		return recipe{}, err
	}
	r.Config, r.Host = asked.Config, asked.Host
	return r, nil
}

func (podmanDialect) report(r recipe, img image, about sandbox.Info, made container.InspectResponse) (container.InspectResponse, error) {
	return podman.Report(podman.Request{Config: r.Config, Host: r.Host}, img.env, about, made)
}

// prepare mounts everything. An overlay whose upper directory Podman changes counts
// as unsupported; an image without a directory of that name avoids it.
func (d podmanDialect) prepare(ctx context.Context, b *box) error {
	e, upper := b.engine, b.spec.Tree.Upper
	before, err := podman.OwnershipOf(upper)
	if err != nil {
		return err
	}
	err = order(ctx, e, "prepare container", e.timeouts.Start, func(ctx context.Context) error {
		return d.api(e).Init(ctx, b.container)
	})
	if err != nil {
		return b.overlayError(err)
	}
	after, err := podman.OwnershipOf(upper)
	if err == nil && after != before {
		err = fmt.Errorf("%w: podman gave the tree the owner of the image's own %s", sandbox.ErrOverlayUnsupported, sandbox.WorkDir)
	}
	return err
}

func (d podmanDialect) exec(ctx context.Context, e *Engine, id string) (container.ExecInspect, error) {
	return d.api(e).Exec(ctx, id)
}

// verify inspects the box from inside, where the kernel shows its real state.
func (podmanDialect) verify(ctx context.Context, b *box, r recipe, about sandbox.Info) error {
	limit := b.engine.timeouts.Start
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &lateError{"probe", limit})
	defer cancel()
	stop := context.AfterFunc(ctx, func() { b.end(context.Cause(ctx)) })
	defer stop()
	asked := podman.Request{Config: r.Config, Host: r.Host}
	var out bytes.Buffer
	bound := stream.Meter{Limit: podman.ProbeBytes}
	exit, err := b.exec(sandbox.Command{Argv: podman.Probe(asked), Stdout: &out}, &bound)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return podman.Inspect(asked, b.details.ID, about, &out, exit.Code)
}
