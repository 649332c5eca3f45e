package docker

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/docker/docker/api/types/mount"

	"sandboxrun/sandbox"
)

// maxImageVolumes bounds how many tmpfs an image can make us mount.
const maxImageVolumes = 16

// coverVolumes puts a tmpfs over every VOLUME of the image, which would
// otherwise become a writable directory of unlimited size on the host's disk.
// A path that is covered already, or lies in a tmpfs, is left alone.
func coverVolumes(tmpfs map[string]string, mounts []mount.Mount, volumes []string, s sandbox.Spec, options tmpfsWords) error {
	if len(volumes) > maxImageVolumes {
		return &sandbox.ImageError{Image: s.Image, Reason: fmt.Sprintf("declares %d volumes, more than %d", len(volumes), maxImageVolumes), Hint: "use an image without VOLUME"}
	}
	taken := slices.Collect(maps.Keys(tmpfs))
	for _, m := range mounts {
		taken = append(taken, m.Target)
	}
	for _, v := range slices.Sorted(slices.Values(volumes)) {
		p := path.Clean("/" + v)
		if slices.Contains(taken, p) {
			continue
		}
		if p == "/" || slices.ContainsFunc([]string{sandbox.WorkDir, "/proc", "/sys", "/dev"}, func(d string) bool { return within(p, d) }) {
			return &sandbox.ImageError{Image: s.Image, Reason: "declares the volume " + p, Hint: "use an image without that VOLUME"}
		}
		tmpfs[p] = options(s.User, s.Limits.TmpBytes, "exec,mode=0755")
	}
	return nil
}
