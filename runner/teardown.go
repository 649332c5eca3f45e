package runner

import (
	"context"
	"fmt"
	"time"
)

// teardown returns a context for work that must be done although ctx may have
// ended: removing, capturing, landing, writing down. It keeps the values of ctx
// but not its end, and has a bound of its own whose cause names what overran.
func teardown(ctx context.Context, what string, bound time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), bound,
		fmt.Errorf("%s took longer than %s", what, bound))
}
