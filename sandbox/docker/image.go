package docker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
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
