package docker

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/mount"

	"sandboxrun/sandbox"
)

// bind is a mount without the mounts below it on the host, present or later. Unlike the textual form, this one takes
// any character in a path.
func bind(source, target string, readOnly bool) mount.Mount {
	return mount.Mount{
		Type:        mount.TypeBind,
		Source:      source,
		Target:      target,
		ReadOnly:    readOnly,
		BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate, NonRecursive: true},
	}
}

func readOnly(source, target string) mount.Mount { return bind(source, target, true) }

// treeMount mounts the tree: a plain directory, or the volume that holds the
// overlay. NoCopy keeps the engine from filling the tree from the image.
func treeMount(t sandbox.Tree, volume string) mount.Mount {
	if t.Dir != "" {
		return bind(t.Dir, sandbox.WorkDir, t.ReadOnly)
	}
	return mount.Mount{
		Type:          mount.TypeVolume,
		Source:        volume,
		Target:        sandbox.WorkDir,
		ReadOnly:      t.ReadOnly,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true},
	}
}

// checkTree refuses a tree that is not exactly one of the two layouts, or whose
// directories are not plain absolute directories.
func checkTree(t sandbox.Tree) error {
	layers := slices.Concat(t.Lower, []string{t.Upper, t.Work})
	switch {
	case t.Dir != "" && (len(t.Lower) > 0 || t.Upper != "" || t.Work != ""):
		return errors.New("tree: both a directory and an overlay")
	case t.Dir != "":
		return checkDir(t.Dir)
	case len(t.Lower) == 0 || t.Upper == "" || t.Work == "":
		return errors.New("tree: an overlay needs lower, upper and work directories")
	}
	for _, dir := range layers {
		if err := checkDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// checkDir does not follow a link in the last element: a process of an earlier box may have put it there.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return fmt.Errorf("tree: %q is not a clean absolute path", dir)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("tree: %s is not a directory", dir)
	}
	return nil
}

func checkBinds(binds []sandbox.Bind) error {
	for _, b := range binds {
		if !filepath.IsAbs(b.Source) || filepath.Clean(b.Source) != b.Source {
			return fmt.Errorf("bind: source %q is not a clean absolute path", b.Source)
		}
		if !path.IsAbs(b.Target) || path.Clean(b.Target) != b.Target || b.Target == "/" {
			return fmt.Errorf("bind: target %q is not a clean absolute path in the box", b.Target)
		}
		if within(b.Target, "/proc") || within(b.Target, "/sys") || within(b.Target, "/dev") {
			return fmt.Errorf("bind: target %s is in a directory of the kernel", b.Target)
		}
	}
	return nil
}

// within reports whether p is dir or below it.
func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

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

// tmpfsWords returns the mount options of a tmpfs of size bytes that belongs to u.
type tmpfsWords func(u sandbox.User, size int64, rest string) string
