package docker

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/stream"
)

// box is one running container. It ends once, with the first cause: Close, a limit, the end of a context given to
// Exec, the loss of the engine, or the end of its main process. The end of life removes the container.
type box struct {
	engine  *Engine
	spec    sandbox.Spec
	details sandbox.BoxDetails
	dialect dialect // of the engine

	life context.Context // ends when the box does; context.Cause says why
	end  context.CancelCauseFunc
	work sync.WaitGroup // every goroutine of the box

	container string // id, or the name while the id is not known
	volume    string // "" without an overlay
	removal   sync.Mutex
	tried     bool // removal was attempted, with or without success
	removed   bool
	built     chan struct{} // closed when Open is done: it creates nothing any more
	attempted chan struct{} // closed after the first attempt to remove

	guest    *guest
	execs    execEnds
	oom      chan struct{} // receives when the engine reports an out-of-memory kill
	output   stream.Meter
	counters counters
	disk     disk
}

var (
	_ sandbox.Sandbox = (*box)(nil)
	_ sandbox.Details = (*box)(nil)
)

func (b *box) inspect(ctx context.Context) (container.InspectResponse, error) {
	e := b.engine
	return ask(ctx, e, "inspect container", e.timeouts.Call, func(ctx context.Context) (container.InspectResponse, error) {
		made, err := e.client.ContainerInspect(ctx, b.container)
		if err == nil && (made.ContainerJSONBase == nil || made.State == nil) {
			err = errNothing
		}
		return made, err
	})
}

// guest is the main process as seen from outside, and the result of Stdio.
type guest struct {
	box    *box
	out    *io.PipeReader
	in     *io.PipeWriter // fed by the stream from the engine
	stderr stream.Tail

	mu     sync.Mutex
	conn   *types.HijackedResponse
	closed bool
}

// execEnds wakes the callers that wait for the end of an exec.
type execEnds struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
}

// counters are the files in which the kernel counts what limits stopped. They are readable only where runner and
// engine share a machine; elsewhere the engine's out-of-memory event is the only source.
type counters struct {
	pid          int           // of the main process, 0 when it is not on this machine
	memory, pids string        // paths, "" when not readable
	procs        string        // path of the list of the box's processes, "" when not readable
	located      chan struct{} // closed after the search for the files
}

// disk watches how much the tree grows. A box may write anywhere in its tree, so all of its own directory is summed:
// the upper layer of an overlay, else the whole tree. Deleted files that are still open are in no directory; they are
// counted when the filesystem has lost more than the tree has gained.
type disk struct {
	root   *os.File
	limits sandbox.Limits
	held   func(ctx context.Context, device uint64) holding // deleted files that processes of the box hold; nil where they cannot be found
	device uint64                                           // of root

	ready    chan struct{} // closed when start and failed are known
	start    usage
	startAt  usage // free space when start was measured
	failed   error
	measures sync.Mutex // one walk at a time; guards last
	last     look
}

// holding is what processes of a box hold of deleted files, which occupy the disk and are in no directory.
type holding struct {
	sum usage
	// hidden says what kept the search from seeing all of it: descriptors on their way between two processes, which belong to none,
	// or more than it can look at. "" for nothing.
	hidden string
}

// look is the result of a walk.
type look struct {
	grown, free usage
	hidden      string // see holding
	cost        time.Duration
	next        time.Time // when the pause is over
}

// dialect is how the services that answer the Engine API differ.
type dialect interface {
	// fit completes a setting for boxes of a spec.
	fit(at setting, s sandbox.Spec, about sandbox.Info) setting
	// request translates a recipe for the service, without weakening it.
	request(e *Engine, r recipe, s sandbox.Spec, about sandbox.Info) (recipe, error)
	// report translates the service's report of a container into Docker's form.
	report(r recipe, img image, about sandbox.Info, made container.InspectResponse) (container.InspectResponse, error)
	// prepare does what a created container needs before it is attached to.
	prepare(ctx context.Context, b *box) error
	// exec returns the state of an exec.
	exec(ctx context.Context, e *Engine, id string) (container.ExecInspect, error)
	// verify inspects a started box for what the service does not report.
	verify(ctx context.Context, b *box, r recipe, about sandbox.Info) error
}
