package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"

	"sandboxrun/sandbox"
)

// hostname is the name every box gives itself.
const hostname = "sandbox"

// etcFiles replace the engine's own in every box: with its network disabled the engine leaves /etc/hosts empty, and a
// missing resolver must fail at once.
var etcFiles = map[string]string{
	"hosts":       "127.0.0.1\tlocalhost " + hostname + "\n::1\tlocalhost ip6-localhost ip6-loopback\n",
	"hostname":    hostname + "\n",
	"resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
}

// etcMounts writes the files to dir, unless they exist, and returns their read-only binds. They are the same for all
// boxes, so a crash leaves nothing to remove.
func etcMounts(dir string) ([]mount.Mount, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("files for /etc: %w", err)
	}
	var mounts []mount.Mount
	for _, name := range []string{"hostname", "hosts", "resolv.conf"} {
		path := filepath.Join(dir, name)
		if err := writeOnce(path, etcFiles[name]); err != nil {
			return nil, fmt.Errorf("files for /etc: %w", err)
		}
		mounts = append(mounts, readOnly(path, "/etc/"+name))
	}
	return mounts, nil
}

// writeOnce makes path hold text. It replaces by rename because a box may have the old file mounted.
func writeOnce(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // already renamed on success
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o444); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// userName is what the user and the group of a box are called in it. Programs that look up their own user number fail without a name:
// initdb, ssh, node's os.userInfo.
const userName = "agent"

// The files with the names of users and groups, and bounds of what is taken from an image.
var userFiles = []string{"passwd", "group"}

const (
	maxUserFile  = 256 << 10 // bytes
	maxUserLines = 5000
	maxUserLinks = 4   // from one file to another
	maxUserKept  = 100 // files of images that are kept for their next box
)

// userMounts are the read-only binds of /etc/passwd and /etc/group for a box: the image's own, and an entry for the user of the box.
// An image is asked once: it never changes.
func (e *Engine) userMounts(ctx context.Context, s sandbox.Spec, img image, now time.Time) ([]mount.Mount, error) {
	var mounts []mount.Mount
	made := map[string]string{} // paths by name of the file
	for _, name := range userFiles {
		made[name] = filepath.Join(e.dir, fmt.Sprintf("%s-%s-%d-%d", name, strings.TrimPrefix(img.id, "sha256:"), s.User.UID, s.User.GID))
		mounts = append(mounts, readOnly(made[name], "/etc/"+name))
	}
	if strings.ContainsAny(img.id, "/\\") {
		return nil, &sandbox.ImageError{Image: s.Image, Reason: fmt.Sprintf("has the id %q", img.id)}
	}
	if !slices.ContainsFunc(userFiles, func(name string) bool { _, err := os.Stat(made[name]); return err != nil }) {
		return mounts, nil
	}
	own, err := e.imageFiles(ctx, s, img, now)
	if err != nil {
		return nil, err
	}
	if err := forgetOld(e.dir); err != nil {
		return nil, fmt.Errorf("files for /etc: %w", err)
	}
	for _, name := range userFiles {
		if err := writeOnce(made[name], withUser(name, own[name], s.User)); err != nil {
			return nil, fmt.Errorf("files for /etc: %w", err)
		}
	}
	return mounts, nil
}

// forgetOld removes the files of the images that were asked first. A box that has one mounted keeps it.
func forgetOld(dir string) error {
	kept, err := filepath.Glob(filepath.Join(dir, "*-*-*-*")) // a path of ours, without patterns but these
	if err != nil || len(kept) < maxUserKept {
		return err
	}
	slices.SortFunc(kept, func(a, b string) int { return ageOf(a).Compare(ageOf(b)) })
	for _, old := range kept[:len(kept)/2] {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func ageOf(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// imageFiles reads the files of an image by way of a container that is never started: nothing of the image runs, and nothing of this
// machine is mounted in it. A file that the image does not have is "".
func (e *Engine) imageFiles(ctx context.Context, s sandbox.Spec, img image, now time.Time) (files map[string]string, err error) {
	s.Role += ".users"
	name := boxName(s.Owner, s.Role)
	none := map[string]string{} // in the place of volumes, which would be made anew
	for _, v := range img.volumes {
		none[path.Clean("/"+v)] = ""
	}
	config := &container.Config{Image: img.id, Entrypoint: []string{"/"}, NetworkDisabled: true, Labels: e.labels(s, now)}
	host := &container.HostConfig{NetworkMode: network.NetworkNone, ReadonlyRootfs: true, CapDrop: []string{"ALL"}, Tmpfs: none,
		SecurityOpt: []string{"no-new-privileges:true"}, LogConfig: container.LogConfig{Type: "none"}}
	patient, done := lingering(ctx, createGrace) // see create
	defer done()
	step := s.Journal.Begin(sandbox.StepCreate, name)
	_, err = ask(patient, e, "create container", e.timeouts.Create, func(ctx context.Context) (container.CreateResponse, error) {
		return e.client.ContainerCreate(ctx, config, host, nil, nil, name)
	})
	step(err)
	if nameInUse(err) {
		return nil, err
	}
	defer func() {
		clearing, cancel := e.teardown(ctx, e.timeouts.Teardown)
		defer cancel()
		if left := e.removeContainer(clearing, name); left != nil {
			err = errors.Join(err, &sandbox.LeftError{Err: left})
		}
	}()
	if errdefs.IsNotFound(err) {
		return nil, &sandbox.ImageError{Image: s.Image, Reason: "was removed while it was being used", Hint: "build or pull it again"}
	}
	if err != nil {
		return nil, err
	}
	files = map[string]string{}
	for _, name := range userFiles {
		from := "/etc/" + name
		for links := 0; ; links++ {
			text, link, err := e.imageFile(ctx, boxName(s.Owner, s.Role), from)
			if errors.Is(err, errNoFile) || links == maxUserLinks {
				// The engine reads it at the start of every container. At a FIFO it would wait for ever, and nobody could remove the container.
				return nil, &sandbox.ImageError{Image: s.Image, Reason: "its " + from + " is not a file", Hint: "use an image whose /etc/" + name + " is a file"}
			}
			if err != nil {
				return nil, err
			}
			if files[name] = text; link == "" {
				break
			}
			if from = path.Clean(link); !path.IsAbs(link) {
				from = path.Join("/etc", link)
			}
		}
	}
	return files, nil
}

// errNoFile is the error of something else in the place of a file.
var errNoFile = errors.New("not a file")

// imageFile reads a file of a container, or where a link leads; both are "" where there is nothing, and for a file beyond the bounds.
func (e *Engine) imageFile(ctx context.Context, box, from string) (text, link string, err error) {
	found, err := ask(ctx, e, "read "+from+" of the image", e.timeouts.Call, func(ctx context.Context) ([2]string, error) {
		archive, _, err := e.client.CopyFromContainer(ctx, box, from)
		if errdefs.IsNotFound(err) {
			return [2]string{}, nil
		}
		if err != nil {
			return [2]string{}, err
		}
		defer archive.Close()
		files := tar.NewReader(io.LimitReader(archive, maxUserFile+(64<<10)))
		h, err := files.Next()
		switch {
		case err != nil:
			return [2]string{}, fmt.Errorf("unpack: %w", err)
		case h.Typeflag == tar.TypeSymlink:
			return [2]string{"", h.Linkname}, nil
		case h.Typeflag != tar.TypeReg:
			return [2]string{}, errNoFile
		case h.Size > maxUserFile:
			return [2]string{}, nil
		}
		content, err := io.ReadAll(files)
		return [2]string{string(content), ""}, err
	})
	return found[0], found[1], err
}

// withUser is a file of an image (passwd(5), group(5)) with an entry for the user of a box, which comes first and is the only one of its
// number and name. Lines that are none, and those beyond the bounds, are left out.
func withUser(file, own string, u sandbox.User) string {
	id, lines := u.UID, []string{fmt.Sprintf("%s:x:%d:%d:sandboxrun:%s:/bin/sh", userName, u.UID, u.GID, sandbox.Home)}
	fields := 7
	if file == "group" {
		id, fields, lines = u.GID, 4, []string{fmt.Sprintf("%s:x:%d:", userName, u.GID)}
	}
	if own == "" {
		own = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
		if file == "group" {
			own = "root:x:0:\nnogroup:x:65534:\n"
		}
	}
	for line := range strings.Lines(own) {
		line = strings.TrimRight(line, "\r\n")
		parts := strings.Split(line, ":")
		if len(parts) != fields || parts[0] == "" || parts[0] == userName || parts[2] == strconv.Itoa(id) || !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
			continue
		}
		if lines = append(lines, line); len(lines) == maxUserLines {
			break
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
