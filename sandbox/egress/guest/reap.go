package guest

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// reap collects the orphans of the box until ctx ends, as the first process of a pid namespace must. The guest starts
// no children of its own, so it may collect every child.
func reap(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	for {
		for {
			// No child, or none that has ended: wait for the next signal.
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != nil || pid == 0 {
				break
			}
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}
