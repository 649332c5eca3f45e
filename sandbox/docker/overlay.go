package docker

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/docker/docker/api/types/volume"

	"sandboxrun/sandbox"
)

// maxMountData is how much option text the kernel takes for one mount (a page).
const maxMountData = 4095

// overlayOptions are the options of the engine's local volume driver for t. userxattr lets an unprivileged reader see
// the opaque marks, and makes it impossible to rename directories of the lower layers; it needs Linux 5.11. Without it, what
// changes how a layer is to be read is said in so many words, whatever the machine's defaults are: redirects, but no files
// whose content is in another layer (metacopy), and no index of hard links. (Linux documentation, filesystems/overlayfs.)
func overlayOptions(t sandbox.Tree) (map[string]string, error) {
	for _, dir := range append([]string{t.Upper, t.Work}, t.Lower...) {
		if i := strings.IndexAny(dir, ",:\\\"\n"); i >= 0 {
			return nil, fmt.Errorf("%w: %q has a %q, which separates mount options", sandbox.ErrOverlayUnsupported, dir, dir[i])
		}
	}
	o := "lowerdir=" + strings.Join(t.Lower, ":") + ",upperdir=" + t.Upper + ",workdir=" + t.Work
	if t.RenameDirs {
		o += ",redirect_dir=on,index=off,metacopy=off"
	} else {
		o += ",userxattr"
	}
	if len(o) > maxMountData {
		return nil, fmt.Errorf("%w: mount options of %d bytes", sandbox.ErrOverlayUnsupported, len(o))
	}
	return map[string]string{"type": "overlay", "device": "overlay", "o": o}, nil
}

// createVolume makes the volume of an overlay tree. The engine mounts it when the container starts. Creating an
// existing volume returns the old one, so the answer is compared.
func (e *Engine) createVolume(ctx context.Context, s sandbox.Spec, now time.Time) error {
	options, err := overlayOptions(s.Tree)
	if err != nil {
		return err
	}
	want := volume.CreateOptions{
		Name:       volumeName(s.Owner, s.Role),
		Driver:     "local",
		DriverOpts: options,
		Labels:     e.labels(s, now),
	}
	got, err := ask(ctx, e, "create volume", e.timeouts.Create, func(ctx context.Context) (volume.Volume, error) {
		return e.client.VolumeCreate(ctx, want)
	})
	if err != nil {
		return err
	}
	if got.Driver != want.Driver || !maps.Equal(got.Options, want.DriverOpts) {
		return &sandbox.PolicyError{Promise: "an overlay volume of the given directories", Got: fmt.Sprintf("%s %v", got.Driver, got.Options)}
	}
	return nil
}

// overlayError turns err into sandbox.ErrOverlayUnsupported when the overlay of the box could not be mounted.
func (b *box) overlayError(err error) error {
	if err != nil && b.volume != "" && overlayRefused(err) {
		return fmt.Errorf("%w: %w", sandbox.ErrOverlayUnsupported, err)
	}
	return err
}

// overlayRefused reports whether the engine could not mount the volume. Its text is the only sign: the local driver
// says "failed to mount local volume", the daemon around it "error while mounting volume", Podman "mounting volume".
func overlayRefused(err error) bool {
	text := err.Error()
	return strings.Contains(text, "mount local volume") || strings.Contains(text, "mounting volume")
}
