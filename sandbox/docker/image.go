package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/filters"
	imageapi "github.com/docker/docker/api/types/image"

	"sandboxrun/sandbox"
)

// image is what Open uses of an image.
type image struct {
	id, digest string
	env        []string
	volumes    []string
}

// Image describes a local image, or fails with *sandbox.ImageError.
func (e *Engine) Image(ctx context.Context, ref string) (sandbox.ImageInfo, error) {
	got, err := e.inspectImage(ctx, ref)
	if err != nil {
		return sandbox.ImageInfo{}, err
	}
	info := sandbox.ImageInfo{
		ID: got.ID, Digest: digest(ref, got.RepoDigests), Tags: got.RepoTags,
		Bytes: got.Size, Created: got.Created,
	}
	if got.Config != nil {
		info.Labels = got.Config.Labels
	}
	return info, nil
}

// ImageEnv returns the variables an image sets, as NAME=value.
func (e *Engine) ImageEnv(ctx context.Context, ref string) ([]string, error) {
	img, err := e.resolve(ctx, ref)
	return img.env, err
}

// Images lists the local images that have label ("name" or "name=value"); all
// of them when it is "". The order is by first tag.
func (e *Engine) Images(ctx context.Context, label string) ([]sandbox.ImageInfo, error) {
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	options := imageapi.ListOptions{Filters: filters.NewArgs()}
	if label != "" {
		options.Filters.Add("label", label)
	}
	list, err := ask(ctx, e, "list images", e.timeouts.Call, func(ctx context.Context) ([]imageapi.Summary, error) {
		return e.client.ImageList(ctx, options)
	})
	if err != nil {
		return nil, err
	}
	infos := make([]sandbox.ImageInfo, 0, len(list))
	for _, got := range list {
		infos = append(infos, sandbox.ImageInfo{
			ID: got.ID, Digest: digest("", got.RepoDigests), Tags: got.RepoTags, Labels: got.Labels,
			Bytes: got.Size, Created: time.Unix(got.Created, 0).UTC().Format(time.RFC3339),
		})
	}
	slices.SortFunc(infos, func(a, b sandbox.ImageInfo) int {
		return strings.Compare(strings.Join(a.Tags, " ")+a.ID, strings.Join(b.Tags, " ")+b.ID)
	})
	return infos, nil
}

// resolve turns a reference into the id that everything after it uses: a tag
// may point elsewhere a moment later.
func (e *Engine) resolve(ctx context.Context, ref string) (image, error) {
	got, err := e.inspectImage(ctx, ref)
	if err != nil {
		return image{}, err
	}
	img := image{id: got.ID, digest: digest(ref, got.RepoDigests)}
	if got.Config != nil {
		img.env = got.Config.Env
		for v := range got.Config.Volumes {
			img.volumes = append(img.volumes, v)
		}
	}
	return img, nil
}

func (e *Engine) inspectImage(ctx context.Context, ref string) (imageapi.InspectResponse, error) {
	var none imageapi.InspectResponse
	if ref == "" {
		return none, &sandbox.ImageError{Image: `""`, Reason: "no image was given", Hint: "set box.image"}
	}
	if err := e.ready(ctx); err != nil {
		return none, err
	}
	got, err := ask(ctx, e, "inspect image "+ref, e.timeouts.Call, func(ctx context.Context) (imageapi.InspectResponse, error) {
		got, err := e.client.ImageInspect(ctx, ref)
		if err == nil && got.ID == "" {
			err = errNothing
		}
		return got, err
	})
	switch {
	case errdefs.IsNotFound(err):
		return none, &sandbox.ImageError{Image: ref, Reason: "not found", Hint: "build it (sandboxrun image build) or pull it (docker pull " + ref + ")"}
	case errdefs.IsInvalidArgument(err):
		return none, &sandbox.ImageError{Image: ref, Reason: "not a valid reference", Hint: "write it as name:tag, name@sha256:… or an image id"}
	case err != nil:
		return none, err
	case got.Os != "" && got.Os != "linux":
		return none, &sandbox.ImageError{Image: ref, Reason: "is for " + got.Os, Hint: "use a Linux image"}
	}
	return got, nil
}

// CheckTag reports what keeps a word from being the name of an image. It asks no engine.
func CheckTag(word string) error {
	ref, err := reference.ParseNormalizedNamed(word)
	if err != nil {
		return err
	}
	if _, digested := ref.(reference.Digested); digested {
		return errors.New("a digest cannot be chosen")
	}
	return nil
}

// idOf returns the id of an image, "" when there is none of that name.
func (e *Engine) idOf(ctx context.Context, ref string) (string, error) {
	got, err := e.inspectImage(ctx, ref)
	if _, missing := errors.AsType[*sandbox.ImageError](err); missing {
		return "", nil
	}
	return got.ID, err
}

// Rename gives an image a name, and removes the image that loses that name by it, unless something needs it.
func (e *Engine) Rename(ctx context.Context, id, tag string) error {
	before, err := e.idOf(ctx, tag)
	if err != nil {
		return err
	}
	if err := order(ctx, e, "tag image "+tag, e.timeouts.Call, func(ctx context.Context) error {
		return e.client.ImageTag(ctx, id, tag)
	}); err != nil {
		return err
	}
	return e.drop(ctx, before, tag)
}

// drop removes an image that has just lost its last name to another one.
func (e *Engine) drop(ctx context.Context, id, tag string) error {
	if id == "" {
		return nil
	}
	now, err := e.idOf(ctx, tag)
	if err != nil || now == id {
		return err
	}
	got, err := e.inspectImage(ctx, id)
	if _, gone := errors.AsType[*sandbox.ImageError](err); gone {
		return nil
	}
	if err != nil || len(got.RepoTags) > 0 {
		return err
	}
	_, err = e.RemoveImage(ctx, id)
	return err
}

// RemoveImage takes a name away, or removes the image with an id, together with the unnamed images only that one was
// made of. removed is false when something still needs it: a container, another image, or another name of an id.
func (e *Engine) RemoveImage(ctx context.Context, ref string) (removed bool, err error) {
	err = order(ctx, e, "remove image "+ref, e.timeouts.Teardown, func(ctx context.Context) error {
		_, err := e.client.ImageRemove(ctx, ref, imageapi.RemoveOptions{PruneChildren: true})
		switch {
		case errdefs.IsConflict(err):
			return nil
		case err == nil, errdefs.IsNotFound(err):
			removed = true
			return nil
		}
		return err
	})
	return removed, err
}

// digest picks the repository digest of ref's own repository, else the first.
func digest(ref string, repoDigests []string) string {
	name, _, _ := strings.Cut(ref, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	for _, d := range repoDigests {
		if strings.HasPrefix(d, name+"@") {
			return d
		}
	}
	if len(repoDigests) > 0 {
		return repoDigests[0]
	}
	return ""
}
