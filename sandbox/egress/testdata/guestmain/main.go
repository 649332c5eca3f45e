// Command guestmain is a box's main process and nothing else, for the tests
// that put one into a container.
package main

import (
	"context"
	"fmt"
	"os"

	"sandboxrun/sandbox/egress/guest"
)

func main() {
	if err := guest.Main(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}
