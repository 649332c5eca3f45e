package docker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"sandboxrun/internal/step"
	"sandboxrun/sandbox"
)

// Open creates and starts a box; see sandbox.Engine. The context bounds Open only: the box lives until Close, or until
// it hits a limit.
func (e *Engine) Open(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
	s.Limits = limitsOf(s.Limits)
	if err := checkSpec(s); err != nil {
		return nil, fmt.Errorf("open box: %w", err)
	}
	about, err := e.cachedInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("open box: %w", err)
	}
	img, err := e.resolve(ctx, s.Image)
	if err != nil {
		return nil, fmt.Errorf("open box: %w", err)
	}
	b := newBox(ctx, e, s, img)
	b.dialect = dialectOf(about)
	err = b.build(ctx, img, about)
	if cause := context.Cause(b.life); cause != nil {
		err = cause
		if _, ended := errors.AsType[*sandbox.EndedError](cause); ended {
			err = fmt.Errorf("guest %s: %w", s.Guest[0], cause)
		}
	}
	close(b.built)
	if err != nil {
		if left := b.Close(ctx); left != nil {
			err = errors.Join(err, &sandbox.LeftError{Err: left})
		}
		return nil, fmt.Errorf("open box: %w", err)
	}
	return b, nil
}

// build performs the steps of Open; Close removes what each of them leaves.
func (b *box) build(ctx context.Context, img image, about sandbox.Info) error {
	e, now := b.engine, time.Now()
	etc, err := etcMounts(e.dir)
	if err != nil {
		return err
	}
	users, err := e.userMounts(ctx, b.spec, img, now)
	if err != nil {
		return err
	}
	etc = append(etc, users...)
	r, err := e.newRecipe(b.spec, img, b.dialect.fit(setting{etc: etc, now: now}, b.spec, about))
	if err != nil {
		return err
	}
	if r, err = b.dialect.request(e, r, b.spec, about); err != nil {
		return err
	}
	b.watchDisk(b.spec.Tree, b.spec.Limits)
	if b.spec.Tree.Dir == "" {
		b.volume = volumeName(b.spec.Owner, b.spec.Role)
		done := b.spec.Journal.Begin(sandbox.StepVolume, b.volume)
		err := e.createVolume(ctx, b.spec, now)
		done(err)
		if err != nil {
			return err
		}
	}
	done := b.spec.Journal.Begin(sandbox.StepCreate, r.Name)
	made, err := b.create(ctx, r)
	done(err)
	if err != nil {
		return err
	}
	if made, err = b.dialect.report(r, img, about, made); err != nil {
		return err
	}
	if err := keepsPromises(r, made); err != nil {
		return err
	}
	b.details.Runtime = made.HostConfig.Runtime
	if err := b.watchEvents(ctx, made.Created); err != nil {
		return err
	}
	if err := b.dialect.prepare(ctx, b); err != nil {
		return err
	}
	step.Before(sandbox.StepAttach)
	err = b.attach(ctx)
	step.After(sandbox.StepAttach)
	if err != nil {
		return err
	}
	if err := b.disk.measured(ctx); err != nil {
		return err
	}
	step.Before(sandbox.StepStart)
	err = b.start(ctx)
	step.After(sandbox.StepStart)
	if err != nil {
		return err
	}
	b.watchCounters()
	b.watchEngine()
	return b.dialect.verify(ctx, b, r, about)
}

// nameInUse reports whether the name of a new container is taken. Podman reports it as an internal error, and Docker's
// status for it has other meanings too.
func nameInUse(err error) bool {
	return err != nil && strings.Contains(err.Error(), "is already in use")
}

// createGrace is how long the answer to the creation of a container is awaited after the run has been stopped.
const createGrace = 2 * time.Second

// lingering returns a context that ends some time after ctx, with the same cause.
func lingering(ctx context.Context, grace time.Duration) (context.Context, func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel(context.Cause(ctx))
		case <-ended:
		}
	})
	return longer, func() { close(ended); stop(); cancel(nil) }
}

// create makes the container and returns the engine's description of it. When the answer is lost, the container may
// exist nevertheless, so its name is recorded for removal before the request; a conflict means that the name belongs
// to another box.
func (b *box) create(ctx context.Context, r recipe) (container.InspectResponse, error) {
	var none container.InspectResponse
	e := b.engine
	b.container = r.Name
	// An engine carries out the request of a caller who has gone: the container would appear after its removal.
	patient, done := lingering(ctx, createGrace)
	defer done()
	answer, err := ask(patient, e, "create container", e.timeouts.Create, func(ctx context.Context) (container.CreateResponse, error) {
		answer, err := e.client.ContainerCreate(ctx, r.Config, r.Host, r.Network, nil, r.Name)
		if err == nil && answer.ID == "" {
			err = errNothing
		}
		return answer, err
	})
	if nameInUse(err) {
		b.container, b.volume = "", ""
	}
	if errdefs.IsNotFound(err) {
		return none, &sandbox.ImageError{Image: b.spec.Image, Reason: "was removed while it was being used", Hint: "build or pull it again"}
	}
	if err != nil {
		return none, err
	}
	b.container, b.details.ID = answer.ID, answer.ID
	if ctx.Err() != nil {
		return none, fmt.Errorf("create container: %w", context.Cause(ctx))
	}
	return b.inspect(ctx)
}

func (b *box) start(ctx context.Context) error {
	e := b.engine
	err := order(ctx, e, "start container", e.timeouts.Start, func(ctx context.Context) error {
		return e.client.ContainerStart(ctx, b.container, container.StartOptions{})
	})
	return b.overlayError(err)
}

// checkSpec refuses invalid specs before any request to the engine.
func checkSpec(s sandbox.Spec) error {
	if err := checkNames(s); err != nil {
		return err
	}
	if s.User.UID <= 0 || s.User.GID <= 0 || s.User.UID > math.MaxInt32 || s.User.GID > math.MaxInt32 {
		return fmt.Errorf("user %d:%d: neither number may be 0", s.User.UID, s.User.GID)
	}
	if len(s.Guest) == 0 || s.Guest[0] == "" {
		return errors.New("no guest command")
	}
	if err := checkTree(s.Tree); err != nil {
		return err
	}
	return checkBinds(s.Binds)
}

// limitsOf fills in what the Spec leaves open. Negative limits, which some engines read as "none", take the
// default too.
func limitsOf(l sandbox.Limits) sandbox.Limits {
	d := sandbox.DefaultLimits()
	or := func(asked *int64, fallback int64) {
		if *asked <= 0 {
			*asked = fallback
		}
	}
	or(&l.MemoryBytes, d.MemoryBytes)
	or(&l.PIDs, d.PIDs)
	or(&l.DiskBytes, d.DiskBytes)
	or(&l.DiskInodes, d.DiskInodes)
	or(&l.FreeBytes, d.FreeBytes)
	or(&l.OutputBytes, d.OutputBytes)
	or(&l.TmpBytes, d.TmpBytes)
	or(&l.OpenFiles, d.OpenFiles)
	if !(l.CPUs >= 0.01) || math.IsInf(l.CPUs, 1) {
		l.CPUs = d.CPUs
	}
	return l
}
