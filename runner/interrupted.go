package runner

import (
	"fmt"
	"syscall"
)

// Interrupted is the cause to cancel Execute's context with when a person or a
// supervisor stops the run. The exit code of such a run is 128 plus the signal.
type Interrupted struct{ Signal syscall.Signal } //nolint:errname // a cause, not a failure

func (i Interrupted) Error() string { return fmt.Sprintf("interrupted by %s", i.Signal) }
