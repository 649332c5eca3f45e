package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/containerd/errdefs/pkg/errhttp"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

// What the SDK cannot ask Podman's service, or not read from its answer.

const (
	// maxPodmanAnswer bounds an answer; that about an exec repeats its command
	// line.
	maxPodmanAnswer = 4 << 20
	// podmanVersion is the oldest version of Podman's own interface that is used.
	podmanVersion = "4.0.0"
	// pidForgotten stands for the process id of an exec that has ended.
	pidForgotten = -1

	codeNotStarted    = 125 // as Podman reports it, or the process's own
	codeNotExecutable = 126
	codeNotFound      = 127
)

// podmanCall sends a request without a body and decodes the answer into into,
// unless that is nil. Errors carry the service's message.
func (e *Engine) podmanCall(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://podman"+path, nil)
	if err != nil {
		return err
	}
	answer, err := e.client.HTTPClient().Do(request)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxPodmanAnswer))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		var refusal struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal(body, &refusal); err != nil {
			refusal.Message = answer.Status
		}
		return fmt.Errorf("podman: %s: %w", refusal.Message, errhttp.ToNative(answer.StatusCode))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

// podmanExec asks for an exec. In the fields the SDK reads, an exec that ended
// well is the same as one that has not started: Podman forgets the process id.
// CanRemove tells them apart. (Podman, libpod/define.InspectExecSession.)
func (e *Engine) podmanExec(ctx context.Context, id string) (container.ExecInspect, error) {
	var state struct {
		CanRemove bool `json:"CanRemove"`
		ExitCode  int  `json:"ExitCode"`
		Pid       int  `json:"Pid"`
	}
	path := "/v" + e.client.ClientVersion() + "/exec/" + url.PathEscape(id) + "/json"
	if err := e.podmanCall(ctx, http.MethodGet, path, &state); err != nil {
		return container.ExecInspect{}, err
	}
	if state.CanRemove && !slices.Contains([]int{codeNotStarted, codeNotExecutable, codeNotFound}, state.ExitCode) {
		state.Pid = pidForgotten
	}
	return container.ExecInspect{ExecID: id, Running: !state.CanRemove, ExitCode: state.ExitCode, Pid: state.Pid}, nil
}

// podmanInit mounts everything and makes the first process, not yet running.
// Attaching would do so too, but could not say what went wrong.
//
// A volume that is new to Podman gets the owner and mode of what the image has in
// its place. On an overlay that changes the upper directory, and the box could
// not write to its tree: such an overlay counts as unsupported. An image without
// a directory of that name avoids it.
func (b *box) podmanInit(ctx context.Context) error {
	e, upper := b.engine, b.spec.Tree.Upper
	before, err := ownership(upper)
	if err != nil {
		return err
	}
	err = order(ctx, e, "prepare container", e.timeouts.Start, func(ctx context.Context) error {
		return e.podmanCall(ctx, http.MethodPost, "/v"+podmanVersion+"/libpod/containers/"+url.PathEscape(b.container)+"/init", nil)
	})
	if err != nil {
		return b.overlayError(err)
	}
	after, err := ownership(upper)
	if err == nil && after != before {
		err = fmt.Errorf("%w: podman gave the tree the owner of the image's own %s", sandbox.ErrOverlayUnsupported, sandbox.WorkDir)
	}
	return err
}

// ownership is who owns a directory and what others may do in it; "" has none.
func ownership(dir string) (owner [3]uint32, err error) {
	if dir == "" {
		return owner, nil
	}
	var s unix.Stat_t
	if err := unix.Lstat(dir, &s); err != nil {
		return owner, fmt.Errorf("look at %s: %w", dir, err)
	}
	return [3]uint32{s.Uid, s.Gid, s.Mode}, nil
}

// nameInUse tells whether the name of a new container is another's. Podman says
// it as an internal error, and Docker's status for it has other meanings too.
func nameInUse(err error) bool {
	return err != nil && strings.Contains(err.Error(), "is already in use")
}
