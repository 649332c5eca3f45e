// Command guestmain is a box's main process and nothing else, for the tests
// that put one into a container.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sandboxrun/sandbox/egress"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := egress.GuestMain(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}
