package podman

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/containerd/errdefs/pkg/errhttp"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"
)

const (
	// maxAnswer bounds an answer; an exec's repeats its command line.
	maxAnswer = 4 << 20
	// apiVersion is the oldest version of Podman's own interface that is used.
	apiVersion = "4.0.0"
	// pidForgotten stands for the process id of an exec that has ended.
	pidForgotten = -1

	codeNotStarted    = 125 // as Podman reports it, or the process's own
	codeNotExecutable = 126
	codeNotFound      = 127
)

// API makes the calls that the SDK cannot make, or whose answer it cannot read.
type API struct {
	HTTP    *http.Client // connects to the service, whatever host a request names
	Version string       // of Docker's API, as negotiated
}

// call sends a request without a body and decodes the answer into into, unless that is nil. Errors carry the service's
// message.
func (a API) call(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://podman"+path, nil)
	if err != nil {
		return err
	}
	answer, err := a.HTTP.Do(request)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
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

// Exec returns the state of an exec. In the fields the SDK reads, an exec that ended well looks like one that has not
// started: Podman forgets the process id. CanRemove distinguishes them. (Podman, libpod/define.InspectExecSession.)
func (a API) Exec(ctx context.Context, id string) (container.ExecInspect, error) {
	var state struct {
		CanRemove bool `json:"CanRemove"`
		ExitCode  int  `json:"ExitCode"`
		Pid       int  `json:"Pid"`
	}
	path := "/v" + a.Version + "/exec/" + url.PathEscape(id) + "/json"
	if err := a.call(ctx, http.MethodGet, path, &state); err != nil {
		return container.ExecInspect{}, err
	}
	if state.CanRemove && !slices.Contains([]int{codeNotStarted, codeNotExecutable, codeNotFound}, state.ExitCode) {
		state.Pid = pidForgotten
	}
	return container.ExecInspect{ExecID: id, Running: !state.CanRemove, ExitCode: state.ExitCode, Pid: state.Pid}, nil
}

// Init mounts everything of a container and makes its first process, not yet running. Attaching would do so too, but
// could not report an error.
func (a API) Init(ctx context.Context, name string) error {
	return a.call(ctx, http.MethodPost, "/v"+apiVersion+"/libpod/containers/"+url.PathEscape(name)+"/init", nil)
}

// Ownership is the owner and the mode of a directory; zero for the directory "".
type Ownership struct{ uid, gid, mode uint32 }

// OwnershipOf reads the ownership of a directory. Podman gives a new volume the owner and mode of the image's
// directory in its place. On an overlay that changes the upper directory, and the box could not write to its tree.
func OwnershipOf(dir string) (Ownership, error) {
	if dir == "" {
		return Ownership{}, nil
	}
	var s unix.Stat_t
	if err := unix.Lstat(dir, &s); err != nil {
		return Ownership{}, fmt.Errorf("inspect %s: %w", dir, err)
	}
	return Ownership{s.Uid, s.Gid, s.Mode}, nil
}
